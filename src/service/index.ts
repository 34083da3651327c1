/** The service: area A of the interface, with a control API and session pages beside it. */
export { CannotStart } from './errors.ts';
export {
  startService,
  type RunningService,
  type ServiceKey,
  type ServiceOptions,
} from './start-service.ts';
export { lintTraces, type LintOptions, type TraceDiagnosis } from './lint-traces.ts';
