/** Which closed conversations the results may leave out. */
import t from 'tap';
import {
  listedConversations,
  listsAfterScoring,
} from '../../../conformance/areas/service/results/listed-conversations.ts';
import type { Check, Finding } from '../../../conformance/engine/checks/check.ts';
import { toExchange, type Exchange } from '../../../conformance/engine/transcript/transcript.ts';
import type { ExchangeRecord } from '../../../src/contract/index.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';

const exchange = (
  part: Pick<ExchangeRecord, 'id' | 'endpoint' | 'step' | 'probe'>,
  path: string,
  body: unknown,
): Exchange =>
  toExchange({
    record: 'exchange',
    intent: 'valid',
    startedMs: part.id,
    endedMs: part.id + 1,
    ...part,
    request: { method: part.endpoint === 'production' ? 'GET' : 'POST', path, headers: {} },
    response: { status: 200, headers: {}, body: JSON.stringify(body) },
  });

const IDS = ['sk-abcdefgh-1', 'sk-abcdefgh-2', 'sk-abcdefgh-3'] as const;

const closes = IDS.map((id, index) =>
  exchange(
    { id: index + 1, endpoint: 'end', step: 'close json', probe: 'service/conversations' },
    `/v1/sessions/${id}/end`,
    { conversation_id: id, evaluations_queued: 2 },
  ),
);

const drain = exchange(
  { id: 5, endpoint: 'admin', step: 'drain', probe: 'service/production' },
  '/__admin/drain',
  {},
);

const page = (step: 'results' | 'whole', ids: readonly string[]): Exchange =>
  exchange(
    { id: 9, endpoint: 'production', step, probe: 'service/production' },
    '/api/prod-evaluations/sessions/?limit=500',
    {
      items: ids.map((id) => ({ source_session_id: id })),
      total: ids.length,
    },
  );

function judge(check: Check | undefined, read: Exchange): Finding[] {
  const transcript = { run: newRunRecord(), exchanges: [...closes, drain, read] };
  return check?.judge(check.evidence(transcript), transcript) ?? [];
}

const checks = [
  ['results', listedConversations.requirements['SERVICE-087']?.check],
  ['whole', listsAfterScoring()],
] as const;

for (const [step, check] of checks) {
  void t.test(`${step}: a single conversation may have ended without an outcome`, (t) => {
    t.same(judge(check, page(step, IDS)), []);
    t.match(judge(check, page(step, IDS.slice(1))), [{ isNote: true, hint: /without an outcome/ }]);
    t.end();
  });

  void t.test(`${step}: several conversations are missing, or one has another id`, (t) => {
    const several = judge(check, page(step, IDS.slice(2)));
    const renamed = judge(check, page(step, ['svc-sk-abcdefgh-1', ...IDS.slice(1)]));
    for (const findings of [several, renamed]) {
      t.ok(findings.length > 0);
      t.notOk(findings.some(({ isNote }) => isNote));
    }
    t.end();
  });
}
