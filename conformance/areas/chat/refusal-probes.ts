import type { ChatRequest } from '../../../src/contract/index.ts';
import type { Step } from '../../engine/probe-context.ts';
import { fullRequest, GREETING, user, valid } from './requests.ts';
import { cost, type Probe } from '../../engine/probe.ts';

/** Each edit of the control request, by the name of its step: another body, as JSON or as text. */
function editsOf(request: ChatRequest): Record<string, NonNullable<Step['body']>> {
  const { messages: sent, ...rest } = request;
  const messages = (value: unknown): { json: unknown } => ({ json: { ...rest, messages: value } });
  const message = (value: object): { json: unknown } => messages([value]);
  return {
    'messages missing': { json: rest },
    'messages a string': messages(GREETING),
    'messages an object': messages(user(GREETING)),
    'messages null': messages(null),
    'message a string': messages([GREETING]),
    'role missing': message({ content: GREETING }),
    'role a number': message({ role: 1, content: GREETING }),
    'role tool': message({ role: 'tool', content: GREETING }),
    'role unknown': message({ role: 'customer', content: GREETING }),
    'content missing': message({ role: 'user' }),
    'role unknown in the last of two': messages([
      user(GREETING),
      { role: 'customer', content: GREETING },
    ]),
    'content missing in the first of two': messages([{ role: 'user' }, user(GREETING)]),
    'content a number': message({ role: 'user', content: 42 }),
    'content an object': message({ role: 'user', content: { text: GREETING } }),
    'content null': message({ role: 'user', content: null }),
    'body not JSON': { text: JSON.stringify(request).slice(0, -1) },
    'body empty': { text: '' },
    'body an array': { json: [request] },
  };
}

/** Requests that are one edit away from a good one. */
export const refusals: Probe = {
  id: 'chat/refusals',
  area: 'chat',
  phase: 'refused',
  exercises: [
    ...(['CHAT-060', 'CHAT-061', 'CHAT-062', 'CHAT-063', 'CHAT-064', 'CHAT-065'] as const),
    ...(['CHAT-066', 'CHAT-070', 'CHAT-071', 'CHAT-072'] as const),
  ],
  cost: cost(19, 1),
  async run(context) {
    const request = fullRequest(context);
    const control = await context.send(valid('control', request));
    if (!control) return;
    await Promise.all(
      Object.entries(editsOf(request)).map(([step, body]) =>
        context.send({ endpoint: 'chat', step, intent: 'refuse', control, body }),
      ),
    );
  },
};

/** Requests about which the specification is silent: their answers make the dialect. */
export const silences: Probe = {
  id: 'chat/silences',
  area: 'chat',
  phase: 'refused',
  exercises: ['CHAT-083'],
  cost: cost(7, 7),
  async run(context) {
    const request = fullRequest(context);
    const open = (step: string, json: unknown, more: Partial<Step> = {}): Step => ({
      endpoint: 'chat',
      step,
      intent: 'open',
      body: { json },
      ...more,
    });
    const parts = [{ role: 'user', content: [{ type: 'text', text: GREETING }] }];
    await Promise.all(
      [
        open('wrong key', request, { key: 'wrong' }),
        open('no key', request, { key: 'none' }),
        open('no messages', { ...request, messages: [] }),
        open('content in parts', { ...request, messages: parts }),
        open('user_id a number', { ...request, user_id: 7 }),
        open('metadata a string', { ...request, metadata: 'evening' }),
        open('content type text/plain', request, { headers: { 'content-type': 'text/plain' } }),
      ].map((step) => context.send(step)),
    );
  },
};
