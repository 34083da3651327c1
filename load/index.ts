/** The load test. The library also imports the table of options, `options.ts`. */
export { load } from './load.ts';
export { CALLS_MAX } from './options.ts';
export { MergeError } from './merge/merge-error.ts';
export { mergeReports } from './merge/merge-reports.ts';
export type { LoadOptions, MergeLoadOptions } from './generated/options.ts';
export type { LoadRun, LoadSettings, Preflight, ShardOptions } from './load-run.ts';
export { isMeasuring, type LoadProgress } from './progress.ts';
export type { LoadShardOptions } from './schedule/shard-option.ts';
export { checkThresholds, parseThresholds, ThresholdError } from './thresholds/threshold.ts';
export { sizeOfRun, type LoadSize } from './find-max/search-size.ts';
export { planLoad } from './phases/plan.ts';
export { withComparison } from './report/comparison.ts';
export { junitReport } from './report/junit.ts';
export { markdownReport } from './report/markdown.ts';
export { terminalReport } from './report/terminal.ts';
export { htmlReport } from './report/page/page.ts';
export { hasRun } from './report/wording.ts';
