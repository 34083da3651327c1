/** The entry point of the conformance package: checks a sandbox or the service over the network. */
export { applyKnownFailures } from './known-failures.ts';
export {
  findRequirementSet,
  selectRequirements,
  SelectionError,
  suggestRequirement,
  type Selection,
} from './selection.ts';
export { sinceOf } from './requirement-sets.ts';
export type { RequirementSet } from './engine/requirement.ts';
export {
  areas,
  findBrokenMusts,
  checkOneCall,
  check,
  diagnose,
  planCheck,
  reportOf,
  serviceArea,
  clientArea,
  type CheckResult,
  type CheckSettings,
} from './check.ts';
export type {
  CheckOptions,
  DiagnoseOptions,
  GradeOptions,
  JudgeClientOptions,
  ResendOptions,
} from './generated/options.ts';
export type { Plan } from './engine/drive/run.ts';
export { endsInPrefix } from './engine/preflight/missing-interface.ts';
export { createTimeLeft, type TimeLeft } from './engine/drive/time-left.ts';
export { judgeClient, retryFaults } from './judge-client.ts';
export { dryRun, explanation, listing } from './explain.ts';
export type { SelftestResult } from './proof/selftest.ts';
export { judgedRoutes, judgeExchange, type ExchangeFinding } from './judge-exchange.ts';
export type { StartRecordingService } from './proof/client/client-runs.ts';
export {
  countUnkilled,
  selftest,
  selftestIds,
  selftestNeeds,
  selftestSize,
  startMutant,
  type RunningMutant,
} from './proof/index.ts';
export { compareReports, completeReport, describeChanges } from './reports/comparison.ts';
export { waitForChange, watchOptionsOf } from './watch.ts';
export {
  diagnosisJson,
  diagnosisText,
  type Diagnosis,
  type DiagnosisReport,
} from './reports/diagnosis.ts';
export type { EndpointState } from './reports/endpoint-states.ts';
export { htmlReport } from './reports/html.ts';
export { junitReport } from './reports/junit.ts';
export { planSentence } from './reports/listing.ts';

export { resendText } from './reports/resend.ts';
export { findInReport, findInRecording, ResendError, type ResendSource } from './resend/source.ts';
export { findInSimulation, isTurnAddress } from './resend/simulated-turn.ts';
export { needsCredentials } from './resend/rebuild.ts';
export { rejectMissingCredentials, resendExchange } from './resend/resend.ts';
export { markdownReport } from './reports/markdown.ts';
export { mutantIds, peerList, selftestText } from './reports/selftest.ts';
export { terminalReport } from './reports/terminal.ts';
export {
  allAreas,
  areaOf,
  idsOf,
  listNeedingControlApi,
  requirement,
  idsOfRun,
  requirementIds,
  serviceRequirementIds,
  allRequirementIds,
  untestable,
  type Requirement,
  type RequirementId,
} from './areas/index.ts';
export {
  readTranscript,
  InvalidRecordingError,
  writeTranscript,
} from './engine/transcript/transcript.ts';
export { findAgentVersion } from './reports/agent-version.ts';
