import { sandboxErrors, type UserCreateRequest } from '../../../src/contract/index.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { type Step, stepsOf } from '../../engine/probe.ts';
import { isInterrupted } from '../../engine/transcript/failure-messages.ts';
import { errorOf, isAccepted, type Exchange } from '../../engine/transcript/reading.ts';
import { extendBody } from '../large-bodies.ts';
import type { SandboxContext } from '../sandbox-state.ts';

/** Whether a request creates or deletes a user. */
export const isAboutUsers = ({ endpoint }: { endpoint: unknown }): boolean =>
  endpoint === 'create' || endpoint === 'delete';

/** The step that creates a user again. */
export const DUPLICATE = 'duplicate';
/** The step that creates the first user of a run again, after many others. */
export const FIRST_AGAIN = 'duplicate of the first user';
/** The steps whose ids start like that of an existing user: two of maximum length, and a shorter one. */
export const LONG_IDS = ['longer id', 'id with a common prefix'] as const;
export const SHORTER_ID = 'shorter id';
/** The step whose id differs from that of an existing user only in case. */
export const OTHER_CASE = 'id in another case';
/** The step whose id of digits differs from that of an existing user only in a zero before it. */
export const LEADING_ZERO = 'id with a leading zero';
/** The step of two equal requests at the same moment. */
export const AT_ONCE = 'at the same moment';
/** The step that deletes a user which an earlier run may have left. */
export const LEFT_OVER = 'left over';
/** The step that sends a refused delete request again, on another connection. */
export const SENT_AGAIN = 'deleted on another connection';

/** The steps of create requests, except malformed ones. */
export type CreateStep =
  | 'full'
  | 'minimal'
  | 'with metadata'
  | 'with profile'
  | 'to be deleted'
  | 'created again'
  | (typeof LONG_IDS)[number]
  | typeof SHORTER_ID
  | typeof OTHER_CASE
  | typeof LEADING_ZERO
  | 'generated'
  | typeof AT_ONCE
  | 'for a session'
  | 'control'
  | typeof DUPLICATE
  | typeof FIRST_AGAIN
  | 'after refusals'
  // Requests whose response the specification leaves open.
  | 'wrong key'
  | 'non-ASCII letters'
  | 'metadata a string';

/** The steps of delete requests. */
export type DeleteStep =
  | 'delete'
  | 'deleted again'
  | 'unknown user'
  | 'stray'
  | typeof AT_ONCE
  | typeof LEFT_OVER
  | typeof SENT_AGAIN;

/** Creates a predicate for the create requests of some steps: `isCreateStep('full')(exchange)`. */
export const isCreateStep = stepsOf<CreateStep>('create');

/** Creates a predicate for the delete requests of some steps. */
export const isDeleteStep = stepsOf<DeleteStep>('delete');

/** Returns whether the request creates a user that exists, while no other request does. */
export const isDuplicate = isCreateStep(DUPLICATE, FIRST_AGAIN);

/** Whether a create request was refused because the user exists. */
export function isRefusedAsDuplicate(exchange: Exchange): boolean {
  return errorOf(exchange)?.code === 'user_exists' || exchange.response?.status === 409;
}

/** What the sandbox should do with a create request for an existing user, as hints say it. */
export const REFUSE_DUPLICATE = `respond with 409, the type ${sandboxErrors.user_exists.type}, and the code user_exists`;

/** Returns a new user id in the shape that the service generates (spec 2.9). */
export const createUserId = ({ random }: SandboxContext): string => `sim_user_${random.id(12)}`;

/** The pattern of family names, which hardly occur in other texts. */
const FAMILY_NAME = /\bsk(?:[aeiou][bcdfghjklmnpqrstvwxyz]){5}\b/g;

/** Returns the family name of a user, which no other user has. */
function familyNameOf(userId: string): string {
  const random = seededRandom(userId);
  const draw = (letters: string): string => letters.charAt(random.integer(0, letters.length - 1));
  const syllables = Array.from({ length: 5 }, () => draw('aeiou') + draw('bcdfghjklmnpqrstvwxyz'));
  return `Sk${syllables.join('')}`;
}

/** Returns the family names in a text, in lowercase, as an email address has them. */
export const familyNamesIn = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(FAMILY_NAME));

/** Returns a create request with every optional field. Its profile shows whose it is. */
export function createFullUser(userId: string) {
  const familyName = familyNameOf(userId);
  return {
    user_id: userId,
    metadata: {
      scenario_id: 'late-parcel',
      persona: 'friendly',
      session_type: 'support',
      preferences: { language: 'en', newsletter: false },
      history: { orders: ['A-1001'] },
    },
    profile: {
      name: `Ada ${familyName}`,
      email: `${familyName.toLowerCase()}@example.com`,
      tier: 'gold',
      location: 'Zurich',
    },
  };
}

/** Extends the body of a create request with a text in `history`, which is any object. */
export const extendUserTo = (bytes: number, request: UserCreateRequest): UserCreateRequest =>
  extendBody(bytes, (notes) => ({
    ...request,
    metadata: { ...request.metadata, history: { ...request.metadata?.history, notes } },
  })) ?? request;

/** Creates a user; if it exists from an earlier run, deletes it first. The request must succeed. */
export async function create(
  context: SandboxContext,
  step: CreateStep,
  request: UserCreateRequest,
  properties?: readonly string[],
): Promise<Exchange | undefined> {
  const sent = createCreation(step, 'valid', request, properties && { properties });
  let exchange = await context.send(sent);
  if (exchange && isRefusedAsDuplicate(exchange)) {
    await context.send(createDeletion(LEFT_OVER, 'open', request.user_id));
    exchange = await context.send(sent);
  }
  if (exchange && isAccepted(exchange)) context.users.existing.add(request.user_id);
  // The sandbox may have created the user.
  if (exchange && isInterrupted(exchange)) context.users.wronglyAccepted.add(request.user_id);
  return exchange;
}

/** How often a refused delete request is sent again, and after how many such users this stops. */
const SENT_AGAIN_MAX = 3;
const LOST_USERS_MAX = 4;

/**
 * Deletes users: the last but one first, alone. If the last one is gone then, too, deletions remove other
 * users; a sandbox that keeps only the latest user still has that one. If a deletion is refused, tries
 * other connections: another process may know the user.
 */
export async function deleteUsers(
  context: SandboxContext,
  userIds: Iterable<string>,
): Promise<void> {
  const { users } = context;
  const remove = async (userId: string): Promise<{ userId: string; status: number }> => {
    const exchange = await context.send(createDeletion('delete', 'valid', userId));
    if (exchange && isAccepted(exchange)) users.existing.delete(userId);
    return { userId, status: exchange?.response?.status ?? 0 };
  };
  const all = [...userIds];
  const first = all.at(-2);
  const others = all.filter((userId) => userId !== first);
  const deletions = [
    ...(first === undefined ? [] : [await remove(first)]),
    ...(await Promise.all(others.map(remove))),
  ];
  // One after another, so that a sandbox that knows no user gets few requests.
  for (const { userId, status } of deletions) {
    const isRefused = status >= 400 && status < 500 && status !== 405 && status !== 429;
    if (isRefused && users.lost < LOST_USERS_MAX) await deleteElsewhere(context, userId);
  }
}

/** Sends a refused delete request again until a process knows the user. */
async function deleteElsewhere(context: SandboxContext, userId: string): Promise<void> {
  const { users } = context;
  for (let count = 0; count < SENT_AGAIN_MAX; count++) {
    const exchange = await context.send(createDeletion(SENT_AGAIN, 'open', userId));
    if (!exchange) break;
    if (isAccepted(exchange)) {
      users.existing.delete(userId);
      return;
    }
  }
  users.lost++;
}

/** Returns a step that creates a user. */
export const createCreation = (
  step: CreateStep,
  intent: Step['intent'],
  json: unknown,
  more: Partial<Step<CreateStep>> = {},
): Step<CreateStep> => ({ endpoint: 'create', step, intent, body: { json }, ...more });

/** Returns a step that deletes a user. */
export const createDeletion = (
  step: DeleteStep,
  intent: Step['intent'],
  userId: string,
): Step<DeleteStep> => ({ endpoint: 'delete', step, intent, userId });

/**
 * Creates a user for one session, so that memory per user can't carry text into another session.
 * Returns the user of the run if the sandbox doesn't create this one, and undefined without users.
 */
export async function createSessionUser(context: SandboxContext): Promise<string | undefined> {
  const { users } = context;
  const id = createUserId(context);
  if (users.isUnsupported) return id;
  if (users.chatAs === undefined) return undefined;
  const exchange = await create(context, 'for a session', { user_id: id });
  return exchange && isAccepted(exchange) ? id : users.chatAs;
}
