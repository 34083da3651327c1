/** Agents that were not written for the kit, behind the endpoints of a sandbox. */
import type { Test } from 'tap';
import { behaviors, startOpenAiServer, type Behavior } from '../models/openai-server.ts';
import { reply, withSandboxDouble } from './sandbox-double.ts';

type Messages = readonly { role: string; content: string }[];

/** Starts a sandbox whose replies a function chooses, and returns its URL. */
async function startSandbox(
  t: Test,
  answer: (messages: Messages) => string | Promise<string>,
): Promise<string> {
  const { url } = await withSandboxDouble(t, {
    chat: (response, request) => {
      const { messages } = request.body as { messages: Messages };
      void Promise.resolve(answer(messages)).then((text) => reply(text)(response, request));
    },
  });
  return url;
}

/** Starts an agent that returns what the user said. */
export const startEcho = (t: Test): Promise<string> =>
  startSandbox(t, (messages) => `You said: ${messages.at(-1)?.content ?? ''}`);

/** Starts an agent that returns everything that the user said so far, after the same words. */
export const startRecitingAgent = (t: Test, words: string): Promise<string> =>
  startSandbox(t, (messages) => {
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    return `${words} ${said.join(' ')}`;
  });

const RULES: [pattern: RegExp, text: string][] = [
  [/\b(?:hello|hi|good morning)\b/i, 'Hello! I am the library bot.'],
  [/\bhelp\b/i, 'You can ask me for the shelf of a book, or renew a loan.'],
  [/\b(?:thank|bye)\b/i, 'You are welcome. Have a nice day!'],
  [/\bshelf\b/i, 'It is on shelf 12.'],
];

/** Starts a bot that looks at the last message only, and has one reply for all that it does not know. */
export const startRuleBot = (t: Test): Promise<string> =>
  startSandbox(t, (messages) => {
    const text = messages.at(-1)?.content ?? '';
    const [, answer] = RULES.find(([pattern]) => pattern.test(text)) ?? [];
    return answer ?? "Sorry, I didn't understand that.";
  });

/** What a language model would reply to a conversation. */
function completeAsModel(messages: Messages): string {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
  const text = said.at(-1) ?? '';
  const name = [...said.join('\n').matchAll(/my name is (\w+)/gi)].at(-1)?.[1];
  if (/what my name is/.test(text)) {
    return name === undefined ? "I don't know your name yet. What is it?" : `You are ${name}.`;
  }
  if (/my name is \w/i.test(text)) return `Nice to meet you, ${name}! What can I do for you?`;
  if (text.trim() === '') return 'It looks like your message was empty. How can I help?';
  if (/¿/.test(text)) return '¡Hola! Puedo reservar vuelos y hoteles para usted.';
  if (/other words/.test(text)) return 'Put simply: tell me where to go, and I book the way there.';
  if (/tell me more/.test(text)) return 'Sure. For a flight I need two cities and a date.';
  if (/goodbye/i.test(text)) return 'Happy to help. Have a safe trip!';
  return 'Hi there! I book flights and hotels. Where would you like to go?';
}

const behaveAsModel: Behavior = (request, response) =>
  behaviors.content(completeAsModel(request.body.messages))(request, response);

/**
 * Starts an agent that sends the conversation to a model, here a stand-in with an OpenAI-compatible
 * endpoint. With `sharesHistory`, it keeps one conversation for all users.
 */
export async function startModelAgent(t: Test, { sharesHistory = false } = {}): Promise<string> {
  const model = await startOpenAiServer(t);
  model.behave(behaveAsModel);
  const history: { role: string; content: string }[] = [];
  return startSandbox(t, async (received) => {
    const last = received.slice(-1).map(({ role, content }) => ({ role, content }));
    if (sharesHistory) history.push(...last);
    const response = await fetch(`${model.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'stand-in', messages: sharesHistory ? history : received }),
    });
    const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
    return choices[0].message.content;
  });
}
