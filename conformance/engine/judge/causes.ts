import type { Cause } from '../../../src/contract/index.ts';
import type { Suite } from '../area.ts';
import type { Repair } from '../checks/check.ts';
import { toExchange, type Transcript } from '../transcript/transcript.ts';
import { judgeTranscript, type Judgment, type JudgeOptions } from './judge.ts';

/** A mended recording is judged for each candidate; more than these would keep a person waiting. */
const CANDIDATES_MAX = 20;

/**
 * Groups failures by the one change that clears them. Each change is made to the recorded answers,
 * and the recording judged again: what a cause says to clear, it has cleared.
 */
export function findCauses(
  suite: Suite,
  transcript: Transcript,
  judgement: Judgment,
  options: JudgeOptions = {},
): Cause[] {
  const before = failuresOf(judgement);
  const causes = collectRepairs(judgement)
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

/** The different changes that findings propose, by what they say. */
function collectRepairs({ requirements }: Judgment): Repair[] {
  const bySaying = new Map<string, Repair>();
  for (const judged of requirements.values()) {
    if (judged.verdict !== 'fail') continue;
    for (const { repair } of judged.findings) if (repair) bySaying.set(repair.description, repair);
  }
  return [...bySaying.values()];
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

/** The strongest first; a cause that clears nothing of its own is left out. */
function keepStrongest(causes: Cause[]): Cause[] {
  const cleared = new Set<string>();
  return causes
    .sort((one, other) => other.clears.length - one.clears.length)
    .filter(({ clears }) => {
      const isNew = clears.some((id) => !cleared.has(id));
      for (const id of clears) cleared.add(id);
      return isNew;
    });
}
