import type { UserCreateRequest } from '../../../src/contract/index.ts';
import type { Random } from '../../../src/platform/random.ts';
import { applyProperties, type SizedProperty } from '../../engine/sweep/property.ts';
import { sweep } from '../../engine/sweep/sweep.ts';
import { errorOf, isAccepted, type Exchange } from '../../engine/transcript/reading.ts';
import { GENERATED } from '../accepted.ts';
import type { SandboxContext } from '../sandbox-state.ts';
import { create, createCreation, createFullUser, createUserId, extendUserTo } from './requests.ts';
import {
  arePaired,
  isExclusive,
  SHORT_ID,
  userProperties,
  type UserDraft,
} from './request-properties.ts';

/** The number of create requests that contain all properties. */
export const GENERATED_USERS = 11;

/** What the generated create requests of a run combine. */
export const userCombination = {
  properties: userProperties,
  requests: GENERATED_USERS,
  isExclusive,
  arePaired,
  imply: (): SizedProperty<UserDraft>[] => [],
};

/** Returns the create request with some properties; `usual` is an id of the usual form. */
export function generateUser(
  sized: readonly SizedProperty<UserDraft>[],
  random: Random,
  usual: string,
): UserCreateRequest {
  const draft: UserDraft = { ...createFullUser(usual), nameUser: [], bytes: 0 };
  const { nameUser, metadata, profile, bytes } = applyProperties(
    draft,
    sized,
    userProperties,
    random,
  );
  const own = random.fork(usual);
  const userId = nameUser.reduce((id, change) => change(id, own), usual);
  return extendUserTo(bytes, { user_id: userId, metadata, profile });
}

/** Sends create requests with all properties, each for a new user. */
export async function sweepUsers(context: SandboxContext): Promise<void> {
  const { random } = context;
  const values = random.fork('values');
  await sweep<UserDraft>({
    ...userCombination,
    wasCutOff: (exchange) => context.wasCutOff(exchange),
    async send(sized, properties) {
      const isShort = sized.some(({ property }) => property.name === SHORT_ID);
      let exchange: Exchange | undefined;
      for (let attempt = 0; attempt < (isShort ? SHORT_IDS_MAX : 1); attempt++) {
        const request = generateUser(sized, values, createUserId(context));
        exchange = isShort
          ? await createUnlessExists(context, request, properties)
          : await create(context, GENERATED, request, properties);
        if (!exchange || errorOf(exchange)?.code !== 'user_exists') break;
      }
      return exchange;
    },
  });
}

/** A short id may be taken. That many are tried. */
const SHORT_IDS_MAX = 3;

/** Creates a user. One that exists may be somebody else's, so it is never deleted. */
async function createUnlessExists(
  context: SandboxContext,
  request: UserCreateRequest,
  properties: readonly string[],
): Promise<Exchange | undefined> {
  const exchange = await context.send(createCreation(GENERATED, 'valid', request, { properties }));
  if (exchange && isAccepted(exchange)) context.users.existing.add(request.user_id);
  return exchange;
}
