import type { Test } from 'tap';
import type { ServiceSetup } from '../../../src/service/app/options.ts';
import { withReferenceAgent } from '../sandboxes/reference-agent.ts';
import { makeContainsEval, withService, type ServiceUnderTest } from './service.ts';
import { makeScenario } from '../sessions/scenarios.ts';
import { makeSpan } from '../traces/otlp.ts';

/** Returns the first line of a text, as long as every name may be. */
export const toName = (text: string): string => (text.split('\n')[0] ?? '').slice(0, 100);

/**
 * Sends a conversation that passes the eval `polite`, one that fails it and has the name of the text,
 * one that stays open, and a request without spans.
 */
export async function sendConversations(tested: ServiceUnderTest, text: string): Promise<void> {
  const { end, send, trace } = tested;
  const name = toName(text);
  const say = (conversationId: string, agent: string, digit: string) =>
    trace(makeSpan({ conversationId, user: text, agent, traceId: digit.repeat(32) }));
  await say('friendly', 'Yes, please.', '1');
  await end('friendly');
  await say(name, text, '2');
  await end(name);
  await say('still open', text, '3');
  await send('POST /v1/traces', { body: { resourceSpans: [] } });
}

/**
 * Starts a service with data of every kind, in which `text` occurs wherever a text is allowed: a passed
 * and a failed conversation, one that is open and one that is not scored, and a finished simulation
 * against a real agent.
 */
export async function withFilledService(
  t: Test,
  text: string,
  options: Partial<ServiceSetup> = {},
): Promise<ServiceUnderTest> {
  const tested = await withService(t, options);
  const { agent } = await withReferenceAgent(t);
  const { admin, end, drain, trace } = tested;
  const name = toName(text);
  await trace(makeSpan({ conversationId: 'not scored', traceId: '4'.repeat(32) }));
  await end('not scored');
  await admin('POST /evals', { ...makeContainsEval('polite', 'please'), name });
  await admin('PUT /settings', { evals: ['polite'], run_name: name });
  await sendConversations(tested, text);
  await admin('POST /agents', { id: 'agent', name, url: agent.url });
  await admin('POST /personas', { id: 'calm', name, characteristics: text });
  const scenario = makeScenario({ id: 'greeting', name, persona: 'calm', evals: ['polite'] });
  await admin('POST /scenarios', scenario);
  await admin('POST /simulations', { name, agent: 'agent', scenarios: ['greeting'], seed: 'test' });
  await drain();
  return tested;
}
