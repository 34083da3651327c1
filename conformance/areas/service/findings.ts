import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { unjudgedAs, type Check, type Finding, type Unjudged } from '../../engine/checks/check.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { hasControlApi } from './transcript.ts';

/** Advice if nothing is scored because no evals are configured. */
export const CONFIGURE_EVALS =
  'Configure evals for live traces, so that the service scores what the run closes.';

/** Advice if sessions of others appear or disappear during the run. */
export const LESS_TRAFFIC = 'Check while there is less traffic, or use a key of another owner.';

/** Reports that nothing was scored, and how to change that unless the run itself has configured evals. */
export function needsScores(reason: string): Check['unjudged'] {
  return needsSessions(reason, CONFIGURE_EVALS);
}

/** Reports that no listed session was suitable, and how to change that unless the run has seeded some. */
export function needsSessions(
  reason: string,
  remedy = 'Use a key that sees scored sessions: configure evals, or run a simulation.',
): Check['unjudged'] {
  const seeded = unjudgedAs('not_observed', reason);
  const unknown = unjudgedAs('not_observed', reason, remedy);
  return (transcript) => (hasControlApi(transcript) ? seeded(transcript) : unknown(transcript));
}

/** Creates a finding about one value of a response body (default: the value at the pointer). */
export function wrongValue(
  { id, json }: Exchange,
  pointer: string,
  expected: string,
  received: string = formatValue(resolvePointer(json, pointer)),
): Finding {
  return { exchange: id, pointer, expected, received };
}

/** Creates a finding about a response body as a whole, which it quotes. */
export function bodyFinding(
  { id, response }: Exchange,
  pointer: string,
  expected: string,
): Finding {
  const received = JSON.stringify((response?.body ?? '').slice(0, 60));
  return { exchange: id, pointer, expected, received };
}

/** Combines two checks, each with its own evidence. The first says why nothing is judged. */
export const requireAll = (first: Check, second: Check): Check => ({
  ...first,
  evidence: (transcript) => [
    ...new Set([...first.evidence(transcript), ...second.evidence(transcript)]),
  ],
  judge: (_evidence, transcript) =>
    [first, second].flatMap((check) => check.judge(check.evidence(transcript), transcript)),
});

/** Judges a special case only if the plain cases are right; otherwise one of them is the cause. */
export function requirePlainRight(plainChecks: readonly Check[], check: Check): Check {
  const findCause = (transcript: Transcript): Finding | undefined =>
    plainChecks
      .flatMap((plain) => plain.judge(plain.evidence(transcript), transcript))
      .find(({ isNote }) => !isNote);
  return {
    ...check,
    evidence: (transcript) => (findCause(transcript) ? [] : check.evidence(transcript)),
    unjudged(transcript) {
      const cause = findCause(transcript);
      if (!cause) return check.unjudged(transcript);
      return {
        verdict: 'blocked',
        reason: `A simpler case is wrong (exchange ${cause.exchange}).`,
      };
    },
  };
}

/** Reports that a control API is required, unless the run has one. */
export function requireControlApi(otherwise: Check['unjudged']): Check['unjudged'] {
  const absent: Unjudged = {
    verdict: 'not_observed',
    reason: 'The check needs a control API to set up the service, and the service has none.',
    remedy: 'Serve the control routes that docs/check.md lists under "Without a control API".',
    needs: 'control_api',
  };
  return (transcript) => (hasControlApi(transcript) ? otherwise(transcript) : absent);
}

/** Reports that an intrusive run is required, unless the run is intrusive. */
export function requireIntrusiveRun(otherwise: Check['unjudged']): Check['unjudged'] {
  const skipped = unjudgedAs(
    'not_observed',
    'Only an intrusive run sends these requests.',
    'Run the check with --intrusive.',
  );
  return (transcript) => (transcript.run.intrusive ? otherwise(transcript) : skipped(transcript));
}
