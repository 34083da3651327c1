import { formatQuantity } from '../../../report-kit/format.ts';
import { nameTargetVerdict } from '../../../report-kit/load-standings.ts';
import type { ItemColumn } from '../../../report-kit/table.ts';
import { renderVerdict } from '../../../report-kit/verdict.ts';

/** What a table shows of the target of a load test. */
interface ShownTarget {
  statement: string;
  verdict: string;
  target: number;
  measured: number | null;
  unit: string;
}

/** The columns of targets, on the page of a load report and on those of readiness. */
export const targetColumns: readonly ItemColumn<ShownTarget>[] = [
  { name: 'target', content: ({ statement }) => statement },
  {
    name: 'verdict',
    className: 'when',
    content: ({ verdict }) =>
      renderVerdict(classOf(verdict), nameTargetVerdict(verdict).toLowerCase()),
  },
  { name: 'required', isNumber: true, content: ({ target, unit }) => formatQuantity(target, unit) },
  {
    name: 'measured',
    isNumber: true,
    content: ({ measured, unit }) => measured !== null && formatQuantity(measured, unit),
  },
];

const classOf = (verdict: string): string =>
  verdict === 'PASS' ? 'passed' : verdict === 'FAIL' ? 'failed' : 'undecided';
