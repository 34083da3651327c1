/** A data directory with rows in every table. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { schemas } from '../../../src/contract/index.ts';
import { openSpanWriter } from '../../../src/service/store/open-span-writer.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { newFormResult, newRecording, newSpan, newSpans, NOON_MS } from '../database/rows.ts';
import { withFilledService } from './filled-service.ts';

const text = 'Where is my parcel? \u00e9\ud83d\ude42 "quoted" \\N {a,b} NULL';

/** The size of the data. */
interface DataSize {
  spans: number;
  /** How many of the spans contain a NUL character. */
  nulSpans: number;
}

/** Fills a data directory with rows in every table. */
export async function fillDataDir(t: Test, size: DataSize): Promise<string> {
  const dataDir = join(t.testdir({}), 'data');
  await t.test('fill the directory', async (t) => {
    const { admin, service, drain } = await withFilledService(t, text, { dataDir });
    await admin('POST /keys', { key: 'another-key-0123456789', label: 'Other' });
    await admin('POST /agents/agent/reports', schemas.LoadReport.examples[0]);
    await admin('POST /transcripts', schemas.TranscriptUpload.examples[0]);
    await admin('POST /seed', {
      runs: [
        {
          name: 'Seeded',
          sessions: [
            {
              source_session_id: 'seeded',
              started_at: '2026-11-19T08:00:00Z',
              metadata: { tier: 'gold' },
            },
          ],
        },
      ],
    });
    await drain();
    t.ok(service.url);
  });
  await addRows(join(dataDir, 'service.db'), size);
  return dataDir;
}

/** Adds the rows that take long by requests, or that need a call. */
async function addRows(file: string, size: DataSize): Promise<void> {
  const store = await openStore({ file });
  const sink = await openSpanWriter({ file });
  const ownerId = await store.owners.ensure('development');
  const spans = Array.from({ length: size.spans }, (_, nth) =>
    newSpan(`many-${nth}`, {
      conversationId: `many-${nth % 100}`,
      inputMessages: JSON.stringify(`${text} ${nth}`) + (nth < size.nulSpans ? '\0' : ''),
    }),
  );
  const links = [{ traceId: 'trace-many-1', spanId: 'ignored', parentSpanId: 'span-many-1' }];
  const tags = [{ conversationId: 'many-1', key: 'tier', value: 'gold' }];
  const logEntries = [
    { level: 'warn' as const, code: 'span_ignored', message: 'An entry.', about: { spans: 1 } },
  ];
  const request = newSpans(ownerId, spans, { links, tags, logEntries });
  for (const result of await sink.insert([request])) if (result instanceof Error) throw result;
  await store.ingestLog.add(ownerId, NOON_MS, logEntries);
  const sessions = await store.sessions.listNewest(ownerId, 100);
  const simulated = sessions.find(({ kind }) => kind === 'simulation');
  const review = { mark: 'wrong' as const, note: 'It was right.', atMs: NOON_MS };
  for (const { id, outcomes } of sessions) {
    for (const { evalId } of outcomes) {
      await store.reviews.put(ownerId, id, { evalId, ...review });
    }
  }
  await store.recordings.add(ownerId, simulated?.id ?? '', newRecording(Buffer.from([0, 255, 92])));
  await store.formResults.add(ownerId, newFormResult(), { countMax: 1, bytesMax: 1 });
  await sink.close();
  await store.close();
}
