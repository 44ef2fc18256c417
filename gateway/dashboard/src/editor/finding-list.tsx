// The diagnostics of a text as a list: each leads to its place.
import type { Diagnostic } from '@methods/method/diagnostic';
import { HostileText } from '../design/hostile-text.tsx';
import classes from './editor.module.css';

type ListedFinding = Pick<Diagnostic, 'code' | 'message' | 'line' | 'column' | 'severity' | 'hint'>;

interface FindingListProps {
  readonly findings: readonly ListedFinding[];
  readonly onGoTo: (place: { line: number; column: number }) => void;
}

export function FindingList({ findings, onGoTo }: FindingListProps) {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return (
    <section className={classes.findings} aria-label="Findings">
      <p role="status">{summary(errors, findings.length - errors)}</p>
      <ul>
        {findings.map((each) => (
          <li key={`${each.line}:${each.column}:${each.code}:${each.message}`}>
            <button type="button" onClick={() => onGoTo(each)}>
              <span className={classes.place}>
                {each.line}:{each.column}
              </span>
              <span className={classes[each.severity]}>
                {each.severity} {each.code}
              </span>
              <span>
                <HostileText text={each.message} max={400} />
                {each.hint !== undefined && (
                  <span className={classes.hint}>
                    {' '}
                    <HostileText text={each.hint} max={400} />
                  </span>
                )}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function summary(errors: number, warnings: number): string {
  if (errors + warnings === 0) return 'The validator finds nothing.';
  const counted = (count: number, noun: string) => (count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`]);
  return [...counted(errors, 'error'), ...counted(warnings, 'warning')].join(', ');
}
