/** The stopwatch: loads a sandbox, and says whether it holds its targets. The wing's one door. */
export { load } from './load.ts';
export type { LiveFigures, LoadOptions, Preflight } from './options.ts';
export { planOf } from './phases/plan.ts';
export { terminalReport } from './report/terminal.ts';
