import type { CallStep, LoadReport } from '../../src/contract/index.ts';
import { formatCount, formatDuration } from '../../src/report-kit/format.ts';
import { describeCounts } from '../record/counts.ts';
import { isMiss } from '../verdict/target.ts';
import { targetTable } from '../verdict/targets.ts';
import type { JudgedRun } from './confirmed-maximum.ts';

/** Share of the turns that may stay without a response. */
const UNANSWERED_SHARE_MAX = 0.01;

/**
 * Decides whether a number of calls was sustained. Only the confirmation is judged statistically.
 *
 * @param openCalls Calls of the step before that the sandbox had not closed.
 */
export function judgeCallStep(
  { plan, selfCheck, voice }: LoadReport,
  openCalls: number,
): JudgedRun<CallStep> {
  const { calls = 0, windowMs } = plan;
  const { held = 0, turns = 0, unansweredTurns = 0 } = voice ?? {};
  const errors = describeCounts(voice?.errors ?? {});
  const pathMs = voice?.audioPathLatencyMs.p95 ?? null;
  const responseMs = voice?.turnResponseMs.p95 ?? null;
  const problem =
    (!selfCheck.valid && selfCheck.reasons.join(' ').replace(/\.$/, '')) ||
    (held < calls && `${calls - held} of ${formatCount(calls, 'call')} failed (${errors})`) ||
    (pathMs !== null &&
      isMiss(targetTable.voiceLatency, pathMs) &&
      `network path latency p95 ${formatDuration(pathMs)}`) ||
    (unansweredTurns > turns * UNANSWERED_SHARE_MAX &&
      `${unansweredTurns} of ${formatCount(turns, 'turn')} got no response`);
  const isCrowded = selfCheck.valid && problem !== false && openCalls > 0;
  const crowd = isCrowded ? `, while ${describeOpenCalls(openCalls)}` : '';
  const step = {
    calls,
    durationMs: windowMs,
    holds: problem === false,
    held,
    audioPathLatencyP95Ms: pathMs,
    turnResponseP95Ms: responseMs,
    turns,
    unansweredTurns,
    reason: problem === false ? describeLatency(pathMs, responseMs) : problem + crowd,
  };
  const obstacle = selfCheck.valid ? (isCrowded ? 'open_calls' : undefined) : 'generator';
  return { step, obstacle, windowMs };
}

const describeOpenCalls = (calls: number): string =>
  `${formatCount(calls, 'call')} of the step before ${calls === 1 ? 'was' : 'were'} still open`;

function describeLatency(pathMs: number | null, responseMs: number | null): string {
  const path = pathMs === null ? 'path not measured' : `path p95 ${formatDuration(pathMs)}`;
  return responseMs === null ? path : `${path}, response p95 ${formatDuration(responseMs)}`;
}
