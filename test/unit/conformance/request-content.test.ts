import t from 'tap';
import { describeContent } from '../../../conformance/engine/transcript/request-content.ts';
import type { ExchangeRecord } from '../../../src/contract/index.ts';

const exchange = (over: Partial<ExchangeRecord>): ExchangeRecord => ({
  ...{ record: 'exchange', id: 1, probe: 'p', step: 's', endpoint: 'chat', intent: 'valid' },
  ...{ request: { method: 'POST', path: '/', headers: {} }, startedMs: 0, endedMs: 1 },
  ...over,
});

const withBody = (endpoint: ExchangeRecord['endpoint'], body: string): ExchangeRecord =>
  exchange({ endpoint, request: { method: 'POST', path: '/', headers: {}, body } });

void t.test('a suspect of a crash is named by what it contains', (t) => {
  const chat = (content: unknown): ExchangeRecord =>
    withBody('chat', JSON.stringify({ messages: [{ role: 'user', content }] }));
  t.equal(describeContent(chat('Hi 🎉\n"there"')), 'message "Hi 🎉 \\"there\\""');
  t.equal(describeContent(chat('x'.repeat(100))), `message "${'x'.repeat(45)}..."`);
  t.match(describeContent(chat(null)), /^body \{"messages":\[\{/);
  t.equal(describeContent(withBody('chat', '{"messages":')), 'body {"messages":');
  t.equal(describeContent(withBody('create', '{"user_id":"a"}')), 'body {"user_id":"a"}');
  t.equal(describeContent(exchange({ endpoint: 'health' })), '');
  const message = (from: 'kit' | 'sandbox', type: string) => ({
    ...{ atMs: 0, from, kind: 'message' as const },
    text: JSON.stringify({ type }),
  });
  const events = [message('kit', 'start_call'), message('sandbox', 'call_ready')];
  const call = exchange({ endpoint: 'voice', call: { events } });
  t.equal(describeContent(call), 'last message "start_call"');
  t.equal(
    describeContent(exchange({ endpoint: 'voice', call: { events: [] } })),
    'no message was sent',
  );
  t.end();
});
