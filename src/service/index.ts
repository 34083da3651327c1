/** The service: area A of the interface, with a control API and session pages. */
export { StartError } from '../http-kit/errors.ts';
export type { ServiceOptions, SimulateOptions } from './generated/options.ts';
export { KEY_FORM, type ServiceKey } from './options.ts';
export type { ModelEndpoint } from './model/endpoint.ts';
export { isKey } from './requests/authentication.ts';
export type { IngestLogLine, ServiceControls } from './admin/controls.ts';
export type { CallerRecording } from './app/caller-recorder.ts';
export { startService, type RunningService, type ServiceEnvironment } from './app/start-service.ts';
export { isDataDir, watchDataDir } from './app/data-dir.ts';
export { DatabaseUnavailableError, migrateDatabase } from './app/open-data.ts';
export { MoveInterruptedError, moveDataDir, type DirectoryMove } from './app/move-data-dir.ts';
export type { MoveProgress } from './store/move/move-data.ts';
export { makeScenarioFromDataDir } from './app/stored-conversation.ts';
export type { ConversationScenario } from './scenarios/conversation-scenario.ts';
export type {
  AgentTest,
  AgentTestPlan,
  AgentTestRun,
  KitFunctions,
  ReadDocument,
  TextPlace,
} from './operations/kit-functions.ts';
export { InvalidDocumentError, InvalidSeedError } from './requests/errors.ts';
export { findRunProblems, resolveScenarios } from './scenarios/resolved-scenario.ts';
export { lintTraces, type TraceDiagnosis } from './ingest/lint-traces.ts';
export { scoreReply } from './app/score-reply.ts';
export { simulate, type SimulationSettings } from './app/simulate.ts';
export { describeCost, estimateCost } from './simulator/cost.ts';
export { countSessions } from './simulator/session-plan.ts';
export { withComparison } from './simulator/report/comparison.ts';
export { junitReport } from './simulator/report/junit.ts';
export { markdownReport } from './simulator/report/markdown.ts';
export { htmlReport } from './simulator/report/page.ts';
export { createCallSummaries, type CallSummaries } from './simulator/calls/call-summaries.ts';
export {
  formatSessionLine,
  formatVerboseSession,
  terminalReport,
} from './simulator/report/terminal.ts';
