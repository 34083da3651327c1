/**
 * Inserts groups of spans until it is killed, and writes the span ids of each stored group to stdout:
 * `node insert-spans.ts FILE OWNER ROUND`. Every seventh group contains a span of the group before.
 */
import { writeSync } from 'node:fs';
import { openSpanWriter } from '../../../src/service/store/sqlite/span-writer.ts';
import { newSpan, newSpans } from '../database/rows.ts';

const [file = '', ownerId = '', round = ''] = process.argv.slice(2);
const sink = openSpanWriter({ file });

for (let group = 0; group < 1_000_000; group += 1) {
  const ids = Array.from({ length: 5 }, (_, nth) => `${round}-${group}-${nth}`);
  if (group % 7 === 6) ids.push(`${round}-${group - 1}-0`);
  const requests = ids.map((id) => {
    const conversationId = `conversation-${round}-${group % 20}`;
    const tags = [{ conversationId, key: 'group', value: String(group % 50) }];
    const inputMessages = JSON.stringify('x'.repeat(2_000));
    return newSpans(ownerId, [newSpan(id, { conversationId, inputMessages })], { tags });
  });
  for (const result of await sink.insert(requests)) if (result instanceof Error) throw result;
  writeSync(1, ids.map((id) => `span-${id}\n`).join(''));
}
