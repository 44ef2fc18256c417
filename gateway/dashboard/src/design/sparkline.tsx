// A line of the last values without axes: the figure beside it has the number, and this its course.
import classes from './sparkline.module.css';

interface SparklineProps {
  /** Null: nothing is known of this time. */
  readonly values: readonly (number | null)[];
  readonly width?: number;
  readonly height?: number;
}

export function Sparkline({ values, width = 120, height = 28 }: SparklineProps) {
  const known = values.filter((value): value is number => value !== null);
  const max = Math.max(...known, 0) || 1;
  const step = values.length < 2 ? 0 : (width - 2) / (values.length - 1);
  let path = '';
  let isDrawn = false;
  for (const [at, value] of values.entries()) {
    if (value === null) {
      isDrawn = false;
      continue;
    }
    const x = (1 + at * step).toFixed(1);
    const y = (height - 2 - (value / max) * (height - 4)).toFixed(1);
    path += `${isDrawn ? 'L' : 'M'}${x} ${y}`;
    isDrawn = true;
  }
  return (
    <svg className={classes.line} width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
