/** Selected requirements and thresholds as options of `check`, `grade`, and `load`. */
import { join } from 'node:path';
import t from 'tap';
import { check, grade, load } from '../../library/index.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { withMutant } from '../support/sandboxes/mutant.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

void t.test('check and grade select requirements, and load judges thresholds', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: null });
  const url = await withMutant(t, 'chat/content-null', agent.url);
  const recordFile = join(t.testdir({}), 'run.ndjson');
  const only = ['CHAT-02*', 'HEALTH-010'];
  const report = await check({ url, only, requirements: '0.2', recordFile });
  t.match(report, { verdict: 'not-conforming', requirementSet: '0.2' });
  t.equal(rowOf(report, 'CHAT-001')?.verdict, 'not_selected');
  t.equal((await grade({ recordFile, requirements: '0.2' })).verdict, 'not-conforming');
  t.equal((await grade({ recordFile, skip: ['CHAT-024'] })).verdict, 'conforming');

  const loaded = await load({
    url: agent.url,
    profile: 'chat',
    rate: 20,
    durationMs: 1_000,
    warmUpMs: 0,
    thresholds: ['chat.max<60s'],
  });
  t.match(loaded.targets.at(-1), { id: 'chat.max<60s', metric: 'chat.max', samples: 20 });
});

void t.test('an invalid selection or threshold rejects before the first request', async (t) => {
  const url = 'http://127.0.0.1:1';
  const rows: [result: Promise<unknown>, message: RegExp][] = [
    [
      check({ url, only: ['CHAT-24'] }),
      /^check: Unknown requirement "CHAT-24" \(only\)\. Did you mean CHAT-024\?$/,
    ],
    [check({ url, areas: ['chat'], skip: ['VOICE-001'] }), /Did you mean areas chat,voice\?$/],
    [
      check({ url, requirements: '9.9' }),
      /^check: Unknown requirement set "9\.9" \(requirements\)\. Known sets: 0\.2\.$/,
    ],
    [check({ url, only: [] }), /^check: only must be an array of at least one requirement/],
    [load({ url, thresholds: ['chat.p59<1s'] }), /^load: thresholds: Unknown metric "chat\.p59"/],
    [
      load({ url, findMax: true, thresholds: ['chat.p50<1s'] }),
      /^load: findMax and thresholds can't be combined/,
    ],
  ];
  for (const [result, message] of rows) await t.rejects(result, { name: 'TypeError', message });
});
