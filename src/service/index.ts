/** The service: area A of the interface, with a control API and session pages beside it. */
export { CannotStart } from './errors.ts';
export {
  startService,
  type RunningService,
  type ServiceKey,
  type ServiceOptions,
} from './start-service.ts';
export { castingsOf } from './castings.ts';
export { lintTraces, type LintOptions, type TraceDiagnosis } from './lint-traces.ts';
export { Misfit } from './errors.ts';
export { simulate, type SimulateOptions } from './simulate.ts';
export { withComparison } from './simulator/report/comparison.ts';
export { junitReport } from './simulator/report/junit.ts';
export { sessionLine, terminalReport } from './simulator/report/terminal.ts';
export type { ConversationScenario } from './conversation-scenario.ts';
export { scenarioOfKept } from './kept-conversation.ts';
