/** The judge: checks a sandbox over the network, and says what holds. The wing's one door. */
export { withBaseline, type Acceptance } from './baseline.ts';
export {
  areas,
  callOnce,
  check,
  defaultPrompts,
  diagnose,
  planned,
  serviceArea,
  type Checked,
  type CheckOptions,
} from './check-sandbox.ts';
export { SUITE, type Plan } from './drive/run.ts';
export { isOnLoopback } from './checks/index.ts';
export { dryRun, explanation, listing } from './explain.ts';
export type { SelftestOptions, SelftestResult } from './mutants/selftest.ts';
export { brokenMusts, type BrokenMust } from './judge/one-exchange.ts';
export { selftest, selftestNeeds, selftestSize, startMutant, type RunningMutant } from './prove.ts';
export { diagnosisJson, diagnosisText, type Diagnosis } from './reports/diagnosis.ts';
export { htmlReport } from './reports/html.ts';
export { junitReport } from './reports/junit.ts';
export { planSentence } from './reports/listing.ts';
export { mutantIds, peerList } from './reports/peers.ts';
export { markdownReport } from './reports/markdown.ts';
export { reportOf } from './reports/report.ts';
export { selftestText } from './reports/selftest.ts';
export { terminalReport } from './reports/terminal.ts';
export {
  areaOf,
  idsOf,
  requirement,
  idsOfRun,
  requirementIds,
  serviceRequirementIds,
  unseen,
  type Requirement,
  type RequirementId,
} from './requirements/index.ts';
export { readTranscript, UnreadableRecording, writeTranscript } from './transcript/transcript.ts';
