import type { Cause } from '../../../src/contract/index.ts';
import type { Suite } from '../area.ts';
import type { Repair } from '../checks/check.ts';
import { toExchange, type Transcript } from '../transcript/transcript.ts';
import { judgeTranscript, type Judgment, type JudgeOptions } from './judge.ts';

/** The recording is judged once per candidate, so more would take too long. */
const CANDIDATES_MAX = 20;

/**
 * Groups failures by the change that clears them. Each change is applied to the recorded responses, and
 * the recording is judged again, so a cause lists only failures that it really clears.
 */
export function findCauses(
  suite: Suite,
  transcript: Transcript,
  judgment: Judgment,
  options: JudgeOptions = {},
): Cause[] {
  const before = failuresOf(judgment);
  const causes = collectRepairs(judgment)
    .slice(0, CANDIDATES_MAX)
    .map((repair): Cause => {
      const after = failuresOf(judgeTranscript(suite, applyRepair(transcript, repair), options));
      const clears = [...before].filter((id) => !after.has(id));
      return { description: repair.description, clears, verified: clears.length > 0 };
    });
  return keepStrongest(causes.filter(({ verified }) => verified));
}

function failuresOf({ requirements }: Judgment): Set<string> {
  return new Set(
    [...requirements]
      .filter(([, { verdict }]) => verdict === 'fail' || verdict === 'blocked')
      .map(([id]) => id),
  );
}

/** Returns the repairs that findings propose, without duplicates. */
function collectRepairs({ requirements }: Judgment): Repair[] {
  const byDescription = new Map<string, Repair>();
  for (const judged of requirements.values()) {
    if (judged.verdict !== 'fail') continue;
    for (const { repair } of judged.findings)
      if (repair) byDescription.set(repair.description, repair);
  }
  return [...byDescription.values()];
}

function applyRepair({ run, exchanges }: Transcript, repair: Repair): Transcript {
  return {
    run,
    exchanges: exchanges.map((exchange) => {
      const changed = repair.apply(exchange);
      if (!changed) return exchange;
      const { json, sent, ...record } = exchange;
      return toExchange({ ...record, ...changed });
    }),
  };
}

/** Sorts causes by the number of cleared failures and omits those that clear nothing new. */
function keepStrongest(causes: Cause[]): Cause[] {
  const cleared = new Set<string>();
  return causes
    .sort((a, b) => b.clears.length - a.clears.length)
    .filter(({ clears }) => {
      const isNew = clears.some((id) => !cleared.has(id));
      for (const id of clears) cleared.add(id);
      return isNew;
    });
}
