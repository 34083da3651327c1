import { isObject } from '../../../src/platform/json.ts';
import type { Suite } from '../area.ts';
import { endpointRoutes } from '../endpoint-routes.ts';
import { isVoice } from '../transcript/call-messages.ts';
import { isKoaNotFound, KOA_NOT_FOUND } from '../transcript/default-not-found.ts';
import { type Exchange, isAccepted, isNotFound, isRefused } from '../transcript/reading.ts';
import { isAgent } from './agent-routes.ts';
import type { BlockingCause, Preflight } from './blocking-cause.ts';

/**
 * Every path is unknown, or the URL already contains the prefix of the chat route. A missing `/health` or
 * another single missing path is a finding. Some servers refuse unknown paths with another 4xx, which
 * counts if the chat route was found without its prefix.
 */
export function findMissingInterface(
  preflight: Preflight,
  { peer, cures }: Suite,
): BlockingCause | undefined {
  const { run, exchanges: sent } = preflight;
  const exchanges = sent.filter(({ endpoint }) => endpoint !== 'elsewhere');
  // A check of the service looks for an agent elsewhere, not for its own routes.
  const elsewhere =
    peer === 'sandbox' ? sent.find(({ endpoint }) => endpoint === 'elsewhere') : undefined;
  const chat = exchanges.find(({ endpoint }) => endpoint === 'chat');
  const chatElsewhere = elsewhere && isAccepted(elsewhere) ? elsewhere : undefined;
  const isUnknown = chatElsewhere ? isMissingOrRefused : isMissing;
  const isHealthOnly = exchanges.every(({ endpoint }) => endpoint === 'health');
  const isAbsent = !isHealthOnly && exchanges.every(isUnknown) && exchanges.some(isNotFound);
  const isDoubled = chatElsewhere !== undefined && endsInPrefix(run.target);
  // Some servers have `/health` and `/users` both with and without the prefix.
  const evidence = isAbsent ? exchanges[0] : isDoubled ? chat : undefined;
  if (!evidence) return undefined;
  if (peer === 'sandbox' && exchanges.some(isOfService)) {
    return {
      id: 'no_interface',
      message: `The server at ${run.target} is the evaluation service of sandbox-kit, not a sandbox.`,
      cure: 'Pass the URL of the sandbox. To check the service itself, run sandbox-kit check URL --area service.',
      evidence,
    };
  }
  if (peer === 'service' && isAgent(sent)) {
    const { health, chat: chatRoute } = endpointRoutes;
    return {
      id: 'no_interface',
      message: `The server at ${run.target} is an agent, not an evaluation service: it responds to GET ${health.path} and POST ${chatRoute.path}.`,
      cure: 'Pass the URL of the service. To check the agent itself, run sandbox-kit check URL without --area service.',
      evidence,
    };
  }
  return {
    id: 'no_interface',
    message: `No ${peer} found at ${run.target}: ${describeUnknown(preflight, chat, chatElsewhere)}.`,
    cure: [
      ...(endsInPrefix(run.target)
        ? [REMOVE_PREFIX]
        : [...describeMissingPrefix(elsewhere), cures.noInterface]),
      ...(hasOnlyKoaDefaults(exchanges) ? [`${KOA_NOT_FOUND}.`] : []),
    ].join(' '),
    evidence,
  };
}

/**
 * Returns whether a base URL already contains the prefix of the chat route, as those of
 * OpenAI-compatible servers do.
 */
export const endsInPrefix = (url: string): boolean => /\/v1\/*$/.test(url);

/** The advice about such a URL. */
export const REMOVE_PREFIX = 'Remove /v1 from the end of the URL.';

/** Says which chat route responds, with the URLs that were sent; otherwise, that no endpoint does. */
function describeUnknown(
  { run: { target }, exchanges }: Preflight,
  chat: Exchange | undefined,
  found: Exchange | undefined,
): string {
  if (!chat || !found) {
    return hasOnlyKoaDefaults(exchanges)
      ? 'every route responds with 404 "Not Found"'
      : 'every endpoint is unknown there';
  }
  const describe = ({ request, response }: Exchange): string =>
    `${request.method} ${target}${request.path} responds with ${response?.status}`;
  return `${describe(chat)}, but ${describe(found)}`;
}

/** Returns whether every route responds like Koa. Other code answers WebSocket requests. */
const hasOnlyKoaDefaults = (exchanges: readonly Exchange[]): boolean =>
  exchanges.some(isKoaNotFound) &&
  exchanges.every((exchange) => isVoice(exchange) || isKoaNotFound(exchange));

const isMissing = (exchange: Exchange): boolean =>
  isNotFound(exchange) || (isVoice(exchange) && exchange.failure !== undefined);

const isMissingOrRefused = (exchange: Exchange): boolean =>
  isMissing(exchange) || isRefused(exchange);

/** Returns whether `sandbox-kit serve` refused an unknown route. */
function isOfService({ json }: Exchange): boolean {
  const { message, ...others } = isObject(json) ? json : {};
  return (
    typeof message === 'string' &&
    /^Route [A-Z]+ \/\S* does not exist\.$/.test(message) &&
    Object.keys(others).length === 0
  );
}

/** Explains a missing prefix of a route. */
function describeMissingPrefix(elsewhere: Exchange | undefined): string[] {
  if (!elsewhere?.response || isNotFound(elsewhere)) return [];
  const { method, path } = elsewhere.request;
  return [
    `${method} ${path} responds with ${elsewhere.response.status}: add the prefix /v1 to this route.`,
  ];
}
