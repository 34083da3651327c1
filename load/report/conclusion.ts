/** The verdict of a run, and the sentence that states it. */
import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';
import { formatCount, formatDuration, formatQuantity } from '../../src/report-kit/format.ts';
import { isClosedLoop } from '../closed-loop.ts';
import type { LoadRun } from '../load-run.ts';
import { decideRunVerdict, exitCodeOf } from '../verdict/run-verdict.ts';
import { isAboutCalls, type TargetRow } from '../verdict/target.ts';
import { targetTable } from '../verdict/targets.ts';
import { countVerdicts, isGeneratorBusy } from './wording.ts';

/** A judged run. */
type Judged = Pick<LoadReport, 'targets' | 'selfCheck' | 'plan'> & {
  blockedBy: LoadReport['blockedBy'] | undefined;
};

/** Returns the verdict of a run with its exit code and its sentence. */
export function concludeRun(
  run: Judged,
  { acceptNotProven }: Pick<LoadRun, 'acceptNotProven'>,
): Pick<LoadReport, 'verdict' | 'exitCode' | 'sentence'> {
  const verdict = decideRunVerdict(run.targets, run.selfCheck);
  const exitCode = exitCodeOf(verdict, acceptNotProven);
  return { verdict, exitCode, sentence: describeVerdict(verdict, run) };
}

/** States the verdict of a run in one or two sentences. */
function describeVerdict(verdict: LoadReport['verdict'], run: Judged): string {
  const { targets, selfCheck, blockedBy } = run;
  if (blockedBy) return `Not judged: ${blockedBy.message}`;
  switch (verdict) {
    case 'INVALID RUN':
      return `Not judged: ${selfCheck.reasons.join(' ')}`;
    case 'NOT TESTED':
      return 'The run tested no target.';
    case 'PASS':
      return `${describePassed(run)} ${countVerdicts(targets)}`;
    case 'FAIL':
    case 'NOT PROVEN': {
      const parts = [
        listStatements(targets, verdict),
        verdict === 'NOT PROVEN' ? adviseDuration(run) : '',
        describeReachedRate(run),
      ];
      return [...parts.filter((part) => part !== ''), countVerdicts(targets)].join(' ');
    }
  }
}

/** Names the shortest duration that gives all targets enough samples; empty if they have enough. */
function adviseDuration({ targets, plan }: Judged): string {
  const undecided = targets.filter(({ verdict }) => verdict === 'NOT PROVEN');
  const durationsMs = undecided.flatMap(({ id, samples, samplesNeeded }) =>
    // Longer calls are not more calls.
    samplesNeeded === undefined || samples === 0 || isAboutCalls({ id })
      ? []
      : [(plan.windowMs * samplesNeeded) / samples],
  );
  if (durationsMs.length === 0) return '';
  const all = undecided.length === 1 ? 'it' : 'all of them';
  const provable = durationsMs.length === undecided.length ? all : `${durationsMs.length} of them`;
  const seconds = Math.ceil(Math.max(...durationsMs) / 1_000);
  return `A longer run can prove ${provable}: use --duration ${seconds}s or more.`;
}

/** States the rate that a closed loop reached; empty for other runs. */
function describeReachedRate({ targets, plan, selfCheck }: Judged): string {
  const measured = findTarget(targets, targetTable.chatThroughput)?.measured ?? null;
  if (!isClosedLoop(plan) || measured === null) return '';
  const least = isGeneratorBusy({ selfCheck }) ? 'at least ' : '';
  const rate = formatQuantity(measured, 'requests/s');
  return `Chat reached ${least}${rate} in a closed loop with ${formatCount(plan.connections, 'connection')}.`;
}

const findTarget = (
  targets: readonly LoadTarget[],
  { row }: { row: TargetRow },
): LoadTarget | undefined => targets.find(({ id }) => id === row.id);

function describePassed(run: Judged): string {
  const { targets, plan } = run;
  if (isClosedLoop(plan)) return describeReachedRate(run);
  const passed = targets.filter(({ verdict }) => verdict === 'PASS');
  const throughput = findTarget(passed, targetTable.chatThroughput);
  const latency = findTarget(passed, targetTable.chatLatency);
  if (throughput && latency) {
    const rate = formatQuantity(throughput.target, throughput.unit);
    return `Chat sustains ${rate} with a p${plan.percentile} of ${formatDuration(latency.measured ?? 0)}.`;
  }
  const connections = findTarget(passed, targetTable.voiceConnections);
  const audio = findTarget(passed, targetTable.voiceLatency);
  if (connections && audio) {
    const calls = formatCount(connections.measured ?? 0, 'concurrent call');
    return `Voice sustains ${calls} with an audio latency of ${formatDuration(audio.measured ?? 0)}.`;
  }
  const [first] = passed;
  return first ? `Target met: ${first.statement}` : '';
}

function listStatements(targets: readonly LoadTarget[], verdict: 'FAIL' | 'NOT PROVEN'): string {
  const statements = targets
    .filter((target) => target.verdict === verdict)
    .map(({ statement }) => statement.replace(/\.$/, ''));
  return `${verdict === 'FAIL' ? 'Target missed' : 'The run could not decide'}: ${statements.join('; ')}.`;
}
