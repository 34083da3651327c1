import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../src/platform/clock.ts';
import { moveDataDir } from '../src/service/app/move-data-dir.ts';
import { startService } from '../src/service/index.ts';
import { post } from './post.ts';

const BATCH = 5_000;

/** The data directory of the sessions, and the time to store them there. */
interface ResultData {
  dataDir: string;
  /** Milliseconds per session; undefined if they were there already. */
  addMs: number | undefined;
  moveMs: number | undefined;
}

/**
 * Fills a directory with sessions, unless it has them, and moves them into a database, unless it has
 * them.
 */
export async function prepareResults(
  count: number,
  { dataDir, databaseUrl }: { dataDir: string; databaseUrl: string | undefined },
): Promise<ResultData> {
  const marker = join(dataDir, 'filled');
  const isFilled = existsSync(marker);
  const addMs = await measure(count, async () => {
    if (isFilled) return;
    mkdirSync(dataDir, { recursive: true });
    const service = await startService({ dataDir });
    for (let from = 0; from < count; from += BATCH) {
      await post(`${service.adminUrl}/seed`, createSeed(from, Math.min(BATCH, count - from)));
      showProgress(`${from} of ${count} sessions added`);
    }
    await service.stop();
    writeFileSync(marker, '');
  });
  const copied = { rows: 0 };
  const moveMs = await measure(count, async () => {
    if (databaseUrl === undefined) return;
    await moveDataDir({
      dataDir,
      databaseUrl,
      onProgress({ table, copiedRows, totalRows }) {
        copied.rows = copiedRows;
        showProgress(`${copiedRows} of ${totalRows} rows moved (${table})`);
      },
    });
  });
  return {
    dataDir,
    addMs: isFilled ? undefined : addMs,
    moveMs: copied.rows > 0 ? moveMs : undefined,
  };
}

function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${text.padEnd(70)}\r`);
}

async function measure(count: number, run: () => Promise<void>): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  await run();
  return (systemClock.monotonicMs() - startedMs) / count;
}

/**
 * Returns sessions of 30 days: nine of ten from production, in a run for each day, and one from a
 * simulation. A session has five turns and three outcomes.
 */
export function createSeed(from: number, size: number): object {
  const sessions = Array.from({ length: size }, (_, index) => {
    const nth = from + index;
    const time = new Date(Date.UTC(2026, 9, 1 + (nth % 30), 8, 0, 0, Math.floor(nth / 30)));
    return {
      nth,
      started_at: time.toISOString(),
      outcomes: ['Polite', 'Order found', 'Short'].map((eval_name, position) => ({
        eval_name,
        outcome: (nth + position) % 11 === 0 ? 'fail' : 'pass',
        reasoning: 'The agent said what was expected of it.',
      })),
      turns: Array.from({ length: 5 }, (_, turn) => ({
        user_input: `Where is parcel ${nth}, which I ordered ${turn} days ago? I need it this week.`,
        agent_response: 'Let me look it up. It has left the warehouse, and it arrives on Tuesday.',
      })),
    };
  });
  const isSimulated = ({ nth }: { nth: number }): boolean => Math.floor(nth / 30) % 10 === 0;
  const production = sessions.filter((session) => !isSimulated(session));
  return {
    runs: Array.from(
      Map.groupBy(production, ({ nth }) => nth % 30),
      ([day, group]) => ({
        name: `Live traces, day ${day}`,
        sessions: group.map(({ nth, ...session }) => ({
          ...session,
          source_session_id: `conversation-${nth}`,
        })),
      }),
    ),
    simulations: [
      {
        id: `simulation-${from}`,
        name: `Nightly ${from}`,
        agent: `Agent ${from % 7}`,
        sessions: sessions.filter(isSimulated).map(({ nth, ...session }) => ({
          ...session,
          id: `simulated-${nth}`,
          scenario: 'Late parcel',
          persona: 'Calm',
          ended_at: session.started_at,
        })),
      },
    ],
  };
}
