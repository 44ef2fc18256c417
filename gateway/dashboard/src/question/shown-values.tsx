// The values of a question: short texts in line, lists of objects as tables, and long values behind "Show all".
import { isJsonList, isJsonObject, type JsonObject, type JsonValue, nestsDeeperThan } from '@methods/method/json';
import { type ReactNode, useState } from 'react';
import { HostileText } from '../design/hostile-text.tsx';
import classes from './question.module.css';
import type { OpenQuestion } from './questions.ts';

const SHORT_CHARACTERS_MAX = 200;
const TEXT_CHARACTERS_MAX = 1_000;
const WHOLE_CHARACTERS_MAX = 64 * 1024;
const CELL_CHARACTERS_MAX = 300;
const COLUMNS_MAX = 12;
const ROWS_MAX = 10;
const VALUES_MAX = 100;
const LEVELS_MAX = 20;

export function ShownValues({ values }: { readonly values: OpenQuestion['show'] }) {
  if (values.length === 0) return null;
  const left = values.length - VALUES_MAX;
  return (
    <section className={classes.values} aria-label="Values">
      {values.slice(0, VALUES_MAX).map(({ path, value }, index) => (
        <div key={index}>
          <h3>
            <HostileText text={path} max={300} />
          </h3>
          <Value value={(value ?? null) as JsonValue} />
        </div>
      ))}
      {left > 0 && <p className={classes.quiet}>{left} more values are in the run.</p>}
    </section>
  );
}

function Value({ value }: { readonly value: JsonValue }): ReactNode {
  if (typeof value === 'string') return <Text text={value} />;
  if (isJsonList(value) && value.length > 0 && value.every(isFlat)) return <Table items={value} />;
  if (isJsonObject(value) && isFlat(value) && Object.keys(value).length <= ROWS_MAX) return <Pairs value={value} />;
  if (typeof value === 'object' && value !== null) return <Text text={written(value)} isCode />;
  return <p className={classes.value}>{scalar(value)}</p>;
}

function Text({ text, isCode = false }: { readonly text: string; readonly isCode?: boolean }) {
  const [isWhole, setWhole] = useState(false);
  if (!isCode && text.length <= SHORT_CHARACTERS_MAX && !text.includes('\n')) {
    return (
      <p className={classes.value}>
        <HostileText text={text} />
      </p>
    );
  }
  return (
    <>
      <pre className={classes.long} data-code={isCode}>
        <HostileText text={text} max={isWhole ? WHOLE_CHARACTERS_MAX : TEXT_CHARACTERS_MAX} lines />
      </pre>
      {text.length > TEXT_CHARACTERS_MAX && !isWhole && (
        <button type="button" className={classes.more} onClick={() => setWhole(true)}>
          Show all ({text.length.toLocaleString('en')} characters)
        </button>
      )}
    </>
  );
}

function Pairs({ value }: { readonly value: JsonObject }) {
  return (
    <dl className={classes.pairs}>
      {Object.entries(value).map(([name, each]) => (
        <div key={name}>
          <dt>
            <HostileText text={name} max={100} />
          </dt>
          <dd>
            <HostileText text={scalar(each)} max={CELL_CHARACTERS_MAX} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Table({ items }: { readonly items: readonly JsonObject[] }) {
  const [isWhole, setWhole] = useState(false);
  const columns = [...new Set(items.slice(0, 200).flatMap((item) => Object.keys(item)))].slice(0, COLUMNS_MAX);
  const rows = isWhole ? items.slice(0, 1_000) : items.slice(0, ROWS_MAX);
  return (
    <>
      <div className={classes.wide} tabIndex={0} role="group" aria-label="Table">
        <table>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  <HostileText text={name} max={60} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((item, index) => (
              <tr key={index}>
                {columns.map((name) => (
                  <td key={name} data-number={typeof item[name] === 'number'}>
                    <HostileText
                      text={scalar(Object.hasOwn(item, name) ? item[name] : null)}
                      max={CELL_CHARACTERS_MAX}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!isWhole && items.length > ROWS_MAX && (
        <button type="button" className={classes.more} onClick={() => setWhole(true)}>
          Show all {items.length.toLocaleString('en')} rows
        </button>
      )}
    </>
  );
}

function isFlat(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && Object.values(value).every((each) => typeof each !== 'object' || each === null);
}

function scalar(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** One line for each value, unless that makes it many times as long. */
function written(value: JsonValue): string {
  const json = JSON.stringify(value);
  return json.length > WHOLE_CHARACTERS_MAX || nestsDeeperThan(value, LEVELS_MAX)
    ? json
    : JSON.stringify(value, null, 2);
}
