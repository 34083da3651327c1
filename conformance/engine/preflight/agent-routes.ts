/** How a check of a service recognizes an agent at the address: by its health and its chat route. */
import { isObject } from '../../../src/platform/json.ts';
import { endpointRoutes } from '../endpoint-routes.ts';
import type { Step } from '../probe.ts';
import { isAccepted, isNotFound, type Exchange } from '../transcript/reading.ts';

const HEALTH_STEP = 'health of an agent';
const CHAT_STEP = 'chat of an agent';

const elsewhere = { endpoint: 'elsewhere', intent: 'open' } as const;

/** The requests that look for an agent. Without a message, none of them reaches a model. */
export const agentSteps: readonly Step[] = [
  { ...elsewhere, step: HEALTH_STEP, method: 'GET', path: endpointRoutes.health.path },
  {
    ...elsewhere,
    step: CHAT_STEP,
    path: endpointRoutes.chat.path,
    body: { json: { messages: [] } },
  },
];

/** Returns whether the responses to these requests are those of an agent. */
export function isAgent(sent: readonly Exchange[]): boolean {
  const find = (step: string): Exchange | undefined =>
    sent.find((exchange) => exchange.endpoint === 'elsewhere' && exchange.step === step);
  const [health, chat] = [find(HEALTH_STEP), find(CHAT_STEP)];
  if (!health || !isAccepted(health) || !isObject(health.json)) return false;
  return chat?.response !== undefined && !isNotFound(chat);
}
