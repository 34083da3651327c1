import { sandboxErrors, type Endpoint, type SandboxErrorCode } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import { formatList } from '../../src/report-kit/format.ts';
import type { Repair } from '../engine/checks/check.ts';
import { ERROR_SHAPE } from '../engine/checks/responses.ts';
import { routeNames } from '../engine/checks/route-names.ts';
import { findOwnMessage } from '../engine/transcript/own-message.ts';
import {
  describeOutcome,
  errorOf,
  isAccepted,
  isBroken,
  isRateLimited,
  isRefused,
  toPrintable,
  type Exchange,
  type Transcript,
} from '../engine/transcript/reading.ts';
import { acceptedBody, respond, respondWithError } from './diagnoses/conforming-response.ts';
import { describeSeen, nonEmpty, quoteBody } from './diagnoses/seen.ts';
import { AT_ONCE, isCreateStep, isDuplicate } from './users/requests.ts';

/** Some routes with a change in common, and their name in a sentence. */
type Routes = readonly [endpoints: readonly Endpoint[], name: string];

const chat: Routes = [['chat'], routeNames.chat];
const create: Routes = [['create'], routeNames.create];
const users: Routes = [['create', 'delete'], 'The /users routes'];
const chatAndCreate: Routes = [['chat', 'create'], `${routeNames.chat} and ${routeNames.create}`];
const health: Routes = [['health'], routeNames.health];
const all: Routes = [['chat', 'create', 'delete', 'health'], 'All routes'];

const isMalformed = (exchange: Exchange): boolean =>
  exchange.intent === 'refuse' && !isDuplicate(exchange) && !isRateLimited(exchange);

/** Refuses malformed requests with 400 where only the status is another one. */
function changeStatus([endpoints, name]: Routes, exchanges: readonly Exchange[]): Repair[] {
  const isWrong = (exchange: Exchange): boolean =>
    endpoints.includes(exchange.endpoint) &&
    isMalformed(exchange) &&
    isRefused(exchange) &&
    exchange.response?.status !== 400;
  const wrong = exchanges.filter(isWrong);
  if (wrong.length === 0) return [];
  const statuses = [...new Set(wrong.map(describeOutcome))].sort();
  const shape = wrong.every(hasShape) ? '' : `, as ${ERROR_SHAPE}`;
  return [
    {
      description: `${name}: refuse malformed requests with 400 instead of ${formatList(statuses)}${shape}`,
      apply: (exchange) =>
        isWrong(exchange) && exchange.response
          ? { response: { ...exchange.response, status: 400 } }
          : undefined,
    },
  ];
}

/** Counts requests that differ in more than when they were sent: a failed one is sent again. */
const countForms = (exchanges: readonly Exchange[]): number =>
  new Set(exchanges.map(({ endpoint, step }) => `${endpoint} ${step}`)).size;

/** Validates the requests of some routes before anything else is done with them. */
function validateInput([endpoints, name]: Routes, exchanges: readonly Exchange[]): Repair[] {
  const isConcerned = (exchange: Exchange): boolean =>
    endpoints.includes(exchange.endpoint) && isMalformed(exchange);
  const malformed = exchanges.filter(isConcerned);
  const wrong = malformed.filter((exchange) => !isRefused(exchange));
  // If every malformed request is refused, the sandbox validates already.
  if (wrong.length === 0) return [];
  const steps = [...new Set(wrong.map(({ step }) => `"${step}"`))].sort();
  const change =
    countForms(wrong) * 2 < countForms(malformed)
      ? `also refuse ${formatList(steps, NAMED_MAX)}`
      : 'validate the body first, and refuse an invalid one';
  const failures = wrong.every(isBroken) ? [...new Set(wrong.map(describeOutcome))].sort() : [];
  const instead = failures.length === 0 ? '' : ` instead of ${formatList(failures)}`;
  return [
    {
      description: `${name}: ${change} with 400${instead}, the type invalid_request_error, and the code bad_request`,
      apply: (exchange) =>
        isConcerned(exchange) ? { response: respondWithError(400, 'bad_request') } : undefined,
    },
  ];
}

/** Returns whether a create request was refused because of its user, perhaps with another type than that of a duplicate. */
const isOfExistingUser = (exchange: Exchange): boolean =>
  exchange.endpoint === 'create' &&
  isRefused(exchange) &&
  !isRateLimited(exchange) &&
  (isCreateStep(AT_ONCE)(exchange) || errorOf(exchange)?.code === 'user_exists');

/** Returns the code of the error table for an error response; undefined if the table has none. */
function errorCodeOf(exchange: Exchange): SandboxErrorCode | undefined {
  const status = exchange.response?.status ?? 0;
  if (isDuplicate(exchange) && status >= 400) return 'user_exists';
  if (isOfExistingUser(exchange)) return 'user_exists';
  switch (status) {
    case 400:
      return 'bad_request';
    case 429:
      return 'rate_limit_exceeded';
    case 500:
      return exchange.endpoint === 'health' ? 'health_check_failed' : 'server_error';
    default:
      return undefined;
  }
}

/** Returns whether an error has the shape of the error table, perhaps with another type or code. */
function hasShape(exchange: Exchange): boolean {
  const { json } = exchange;
  const error = isObject(json) ? json['error'] : undefined;
  return errorOf(exchange) !== undefined && isObject(error) && typeof error['message'] === 'string';
}

/** Sends every error response of some routes in the shape of the error table (spec 7). */
function handleErrors([endpoints, name]: Routes, exchanges: readonly Exchange[]): Repair[] {
  const codeOf = (exchange: Exchange): SandboxErrorCode | undefined =>
    endpoints.includes(exchange.endpoint) ? errorCodeOf(exchange) : undefined;
  if (exchanges.every((exchange) => codeOf(exchange) === undefined || hasShape(exchange)))
    return [];
  return [
    {
      description: `${name}: one error handler that sends ${ERROR_SHAPE} with the type and code of the status`,
      apply(exchange) {
        const code = codeOf(exchange);
        return code && { response: respondWithError(exchange.response?.status ?? 0, code) };
      },
    },
  ];
}

/** Sends the type and the code of the error table where the shape is right. */
function nameErrors([endpoints, name]: Routes, exchanges: readonly Exchange[]): Repair[] {
  const codeOf = (exchange: Exchange): SandboxErrorCode | undefined =>
    endpoints.includes(exchange.endpoint) && hasShape(exchange) ? errorCodeOf(exchange) : undefined;
  const wrong = exchanges.flatMap((exchange) => {
    const code = codeOf(exchange);
    const found = errorOf(exchange);
    const isWrong = code && (found?.code !== code || found.type !== sandboxErrors[code].type);
    return isWrong ? [{ exchange, code, found }] : [];
  });
  if (wrong.length === 0) return [];
  const names = new Map(
    wrong.map(({ exchange, code, found }) => [
      `${code} ${found?.type} ${found?.code}`,
      `for ${code === 'user_exists' ? 'an existing user' : describeOutcome(exchange)} the type ${sandboxErrors[code].type} and the code ${code} instead of ${toPrintable(found?.type ?? '', 30)} and ${toPrintable(found?.code ?? '', 30)}`,
    ]),
  );
  return [
    {
      description: `${name}: send ${formatList([...names.values()], NAMED_MAX)}`,
      apply(exchange) {
        const code = codeOf(exchange);
        return code && { response: respondWithError(exchange.response?.status ?? 0, code) };
      },
    },
  ];
}

const NAMED_MAX = 2;

/** Accepts the valid requests of a route: those with the same refusal, and all. */
function acceptValid(endpoint: 'chat' | 'create', exchanges: readonly Exchange[]): Repair[] {
  const isConcerned = (exchange: Exchange): boolean =>
    exchange.endpoint === endpoint &&
    exchange.intent === 'valid' &&
    !isRateLimited(exchange) &&
    !(isAccepted(exchange) && isObject(exchange.json));
  const groups = [...Map.groupBy(exchanges.filter(isConcerned), nameRefusal).values()];
  const accept = (group: readonly Exchange[], isMore: boolean): Repair[] => {
    const seen = nonEmpty(group);
    if (!seen) return [];
    const ids = new Set(seen.map(({ id }) => id));
    const refusals = new Set(seen.map(nameRefusal));
    const isSameDuplicate = (exchange: Exchange): boolean =>
      exchange.endpoint === endpoint &&
      isDuplicate(exchange) &&
      refusals.has(nameRefusal(exchange));
    const [first] = seen;
    const outcome = first.response
      ? `${first.response.status} with ${quoteBody(first)}`
      : `no response (${first.failure?.message ?? describeOutcome(first)})`;
    const others = isMore ? ', and other refusals' : '';
    return [
      {
        description: `${routeNames[endpoint]}: valid requests get ${outcome}${others} (${describeSeen(seen)}). ${cureOf(first)}`,
        apply(exchange) {
          // A duplicate was refused for the reason of the valid requests.
          if (isSameDuplicate(exchange)) return { response: respondWithError(409, 'user_exists') };
          return ids.has(exchange.id) && isConcerned(exchange)
            ? { response: respond(200, acceptedBody(exchange)) }
            : undefined;
        },
      },
    ];
  };
  return [
    ...groups.slice(0, GROUPS_MAX).flatMap((group) => accept(group, false)),
    ...(groups.length > 1 ? accept(groups.flat(), true) : []),
  ];
}

const GROUPS_MAX = 8;

function cureOf({ response }: Exchange): string {
  const status = response?.status ?? 0;
  if (status >= 500 || status === 0) return 'Find this error in the log of the sandbox';
  return status < 300
    ? 'Respond with one JSON object'
    : 'Accept every request that the interface allows, and require nothing more';
}

/** Returns a text that is the same for refusals that differ only in ids, numbers, and quotations. */
function nameRefusal(exchange: Exchange): string {
  const message = findOwnMessage(exchange) ?? '';
  const common = message.replaceAll(/"[^"]*"|'[^']*'|`[^`]*`|\S*\d\S*/g, '…');
  return `${describeOutcome(exchange)} ${common}`;
}

/**
 * Returns changes to a sandbox that may clear many failures of a recording. A narrower one comes first.
 * A change that the sandbox has made already is left out.
 */
export const sandboxRepairs = ({ exchanges }: Transcript): readonly Repair[] => [
  ...[chat, users, health, all].flatMap((routes) => nameErrors(routes, exchanges)),
  ...[chat, users, health, all].flatMap((routes) => handleErrors(routes, exchanges)),
  ...[chat, create, chatAndCreate].flatMap((routes) => changeStatus(routes, exchanges)),
  ...[chat, create, chatAndCreate].flatMap((routes) => validateInput(routes, exchanges)),
  ...acceptValid('chat', exchanges),
  ...acceptValid('create', exchanges),
];
