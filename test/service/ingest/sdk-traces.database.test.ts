/**
 * Traces as agent SDKs export them: recorded from AI SDK 7.0.173 with @ai-sdk/otel (chat completions),
 * and from openai with @traceloop/instrumentation-openai 0.27.0. The field tests run the SDKs.
 */
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { readSessionPage } from '../../support/pages/session-page.ts';
import { makeContainsEval, withService } from '../../support/services/service.ts';

const toolCall = {
  name: 'find_order',
  arguments: { order_id: 'A-17' },
  result: { order_id: 'A-17', status: 'shipped' },
};

/** Sends a recorded trace request, and returns the only session and its page. */
async function sendRecording(t: Test, name: string) {
  const tested = await withService(t);
  const params = { name: toolCall.name, arguments: toolCall.arguments };
  await tested.admin(
    'POST /evals',
    makeContainsEval('looks', 'order', { kind: 'tool_args', params }),
  );
  await tested.admin('PUT /settings', { evals: ['looks'] });
  const file = new URL(`recorded/${name}.json`, import.meta.url);
  const response = await tested.send('POST /v1/traces', {
    body: JSON.parse(readFileSync(file, 'utf8')) as object,
    headers: { 'x-conversation-id': name },
  });
  t.equal(response.status, 200);
  await tested.end(name);
  await tested.drain();
  const { items } = await tested.production('?include_traces=true');
  const [item] = items;
  if (!item) throw new Error('The service has no session.');
  t.equal(items.length, 1);
  t.equal(item.source_session_id, name);
  const lines = (item.traces ?? []).map((turn) => [turn.user_input, turn.agent_response]);
  return { outcome: item.eval_outcomes[0]?.outcome, lines, page: await readSessionPage(item.url) };
}

void t.test('AI SDK with OpenTelemetry: a tool loop is one turn', async (t) => {
  const { outcome, lines, page } = await sendRecording(t, 'ai-sdk-7');
  t.same(lines, [['Where is A-17?', 'It has shipped.']]);
  t.equal(outcome, 'pass');
  t.same(
    page.turns.map(({ tools }) => tools),
    [[toolCall]],
  );
  t.match(page.tags, { 'service.name': 'shop', 'server.address': '127.0.0.1' });
});

void t.test('Traceloop for OpenAI: each user message is one turn', async (t) => {
  const { outcome, lines, page } = await sendRecording(t, 'traceloop-openai');
  t.same(lines, [
    ['Hello', 'Good morning!'],
    ['Where is A-17?', 'It has shipped.'],
  ]);
  t.equal(outcome, 'pass');
  t.same(
    page.turns.map(({ tools }) => tools),
    [[], [toolCall]],
  );
});
