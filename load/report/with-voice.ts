import type { LoadReport, LoadTarget, SelfCheck } from '../../src/contract/index.ts';
import { seededRandom } from '../../src/platform/random.ts';
import type { LoadOptions } from '../options.ts';
import { callerCheck } from '../self-check/caller-check.ts';
import { exitCodeOf, underSelfCheck, wholeVerdict } from '../verdict/whole.ts';
import { judgeConnections, judgeVoiceLatency } from '../verdict/voice.ts';
import type { VoiceRun } from '../voice/voice-run.ts';
import { machineOf } from './report.ts';
import { sentenceOf } from './sentence.ts';
import {
  callerCosts,
  judgedCalls,
  seenCalls,
  underCallerCheck,
  voiceLoad,
} from './voice-report.ts';

/** A report with the calls of its run in it: their targets are judged, and the whole anew. */
export function withVoice(report: LoadReport, run: VoiceRun, options: LoadOptions): LoadReport {
  const { plan, blockedBy } = report;
  const placed = plan.calls ?? 0;
  const judged = judgedCalls(run);
  const seen = seenCalls(run, placed, judged);
  const local = run.calls.filter(({ fault }) => fault?.kind === 'local').length;
  const costs = callerCosts(run);
  const callers = callerCheck(costs, local, options.voice?.callerLimits, brokenOff(run, report));
  const selfCheck = together(report.selfCheck, callers);
  const chance = seededRandom(`${options.seed}/voice`);
  const ofVoice = [judgeVoiceLatency(seen, chance), judgeConnections(seen)];
  const targets = underSelfCheck(
    report.targets.map((target) => newer(target, ofVoice)),
    selfCheck,
  );
  const verdict = wholeVerdict(targets, selfCheck);
  const voice = voiceLoad(run, placed, judged);
  return {
    ...report,
    verdict,
    exitCode: exitCodeOf(verdict, options.acceptNotProven),
    sentence: sentenceOf({ verdict, targets, selfCheck, blockedBy, plan }),
    targets,
    selfCheck,
    machine: report.machine ?? machineOf({ paced: { cost: costs }, engine: 'WebRTC calls' }),
    voice: { ...voice, perCall: underCallerCheck(voice.perCall, selfCheck.valid) },
    notes: [...report.notes, ...notesOn(voice)],
  };
}

const newer = (target: LoadTarget, others: readonly LoadTarget[]): LoadTarget =>
  others.find(({ id }) => id === target.id) ?? target;

function together(one: SelfCheck, other: SelfCheck): SelfCheck {
  return {
    valid: one.valid && other.valid,
    reasons: [...one.reasons, ...other.reasons],
    figures: [...one.figures, ...other.figures],
  };
}

function brokenOff(
  { ended, wasInterrupted, ranMs }: VoiceRun,
  { plan, streams }: LoadReport,
): string[] {
  const died = ended.map(
    ({ calls, how }) => `A process of the kit that held ${calls} calls ended early (${how}).`,
  );
  // A run with requests in it says itself that it was interrupted.
  if (!wasInterrupted || streams.length > 0) return died;
  const ranS = Math.floor(ranMs / 1_000);
  return [...died, `The run was interrupted after ${ranS} of ${plan.windowMs / 1_000} s.`];
}

function notesOn({
  turns,
  unansweredTurns,
  turnResponseMs,
}: NonNullable<LoadReport['voice']>): string[] {
  const before = (turnResponseMs.p50 ?? 0) < 0;
  return [
    'Voice setup holds some 100 ms that the kit itself waits for before it begins the handshake of the media.',
    ...(unansweredTurns === 0
      ? []
      : [
          `${unansweredTurns} of ${turns} turns of ours were followed by nothing audible within 10 s.`,
        ]),
    ...(before
      ? ['The agent mostly spoke before we had finished: its turns say nothing of its speed.']
      : []),
  ];
}
