// A week of runs as small bars: the failed part is at the top of each, darker and apart.
import classes from './methods.module.css';
import type { DayRuns } from './week.ts';

const WIDTH = 70;
const HEIGHT = 20;
const GAP = 2;

export function Sparkline({ days, label }: { readonly days: readonly DayRuns[]; readonly label: string }) {
  const most = Math.max(1, ...days.map(({ runs }) => runs));
  const width = (WIDTH - GAP * (days.length - 1)) / days.length;
  return (
    <svg
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={`${label}: ${days.map(({ day, runs }) => `${day} ${runs}`).join(', ')}`}
    >
      {days.map(({ day, runs, failed }, index) => {
        const x = index * (width + GAP);
        const height = runs === 0 ? 1 : Math.max(2, (runs / most) * HEIGHT);
        const failedHeight = failed === 0 ? 0 : Math.max(2, (failed / most) * HEIGHT);
        return (
          <g key={day}>
            <rect
              x={x}
              y={HEIGHT - height}
              width={width}
              height={height}
              className={runs === 0 ? classes.none : classes.bar}
            />
            {failedHeight > 0 && (
              <rect x={x} y={HEIGHT - height} width={width} height={failedHeight} className={classes.failedBar} />
            )}
          </g>
        );
      })}
    </svg>
  );
}
