import type { Test } from 'tap';
import { withAgent } from './agent.ts';
import { makeSpan } from './otlp.ts';
import { makeContainsEval, withService, type Bench } from './service.ts';
import { makeScenario } from './simulation.ts';

/** Sends a conversation of one turn. */
export async function sendConversation(
  { trace }: Bench,
  id: string,
  { user = 'Hello.', agent = 'Yes, please.', traceId = '1'.repeat(32) } = {},
): Promise<void> {
  const message = (role: string, content: string): string =>
    JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
  const attributes = {
    'gen_ai.conversation.id': id,
    'gen_ai.input.messages': message('user', user),
    'gen_ai.output.messages': message('assistant', agent),
  };
  await trace(makeSpan({ traceId, attributes }));
}

/**
 * Starts a service with data of every kind, in which `text` occurs wherever a text is allowed: a passed
 * and a failed conversation, one that is open and one that is not scored, and a finished simulation
 * against a real agent.
 */
export async function withFilledService(t: Test, text: string): Promise<Bench> {
  const bench = await withService(t);
  const { agent } = await withAgent(t);
  const { admin, end, drain, send } = bench;
  const name = (text.split('\n')[0] ?? '').slice(0, 100);
  await sendConversation(bench, 'not scored', { traceId: '4'.repeat(32) });
  await end('not scored');
  await admin('POST /evals', { ...makeContainsEval('polite', 'please'), name });
  await admin('PUT /settings', { evals: ['polite'], run_name: name });
  await sendConversation(bench, 'friendly', { user: text });
  await end('friendly');
  await sendConversation(bench, name, { user: text, agent: text, traceId: '2'.repeat(32) });
  await end(name);
  await sendConversation(bench, 'still open', { user: text, traceId: '3'.repeat(32) });
  await send('POST /v1/traces', { body: { resourceSpans: [] } });
  await admin('POST /agents', { id: 'agent', name, url: agent.url });
  await admin('POST /personas', { id: 'calm', name, characteristics: text });
  const scenario = makeScenario({ id: 'greeting', name, persona: 'calm', evals: ['polite'] });
  await admin('POST /scenarios', scenario);
  await admin('POST /simulations', { name, agent: 'agent', scenarios: ['greeting'], seed: 'test' });
  await drain();
  return bench;
}
