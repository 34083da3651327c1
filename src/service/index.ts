/** The service: area A of the interface, with a control API and session pages beside it. */
export { StartError } from './domain/errors.ts';
export {
  startService,
  type RunningService,
  type ServiceKey,
  type ServiceOptions,
} from './app/start-service.ts';
export { resolveScenarios } from './domain/resolved-scenario.ts';
export { lintTraces, type LintOptions, type TraceDiagnosis } from './ingest/lint-traces.ts';
export { InvalidDocumentError } from './domain/errors.ts';
export { simulate, type SimulateOptions } from './app/simulate.ts';
export { withComparison } from './simulator/report/comparison.ts';
export { junitReport } from './simulator/report/junit.ts';
export { sessionLine, terminalReport } from './simulator/report/terminal.ts';
export type { ConversationScenario } from './domain/conversation-scenario.ts';
export { scenarioOfKept } from './app/kept-conversation.ts';
