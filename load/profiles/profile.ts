import type { LoadProfileName, StreamName } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { chatShot, opening, type ChatWords } from './chat-shot.ts';
import { conversationShot } from './conversation.ts';
import { healthShot } from './health-shot.ts';
import { markers, type Markers, type Shot } from './shot.ts';
import { userShot } from './user-shots.ts';

export { THINK_MS } from './conversation.ts';

/** What a profile sends: streams with a rate, users who talk, or both. */
export interface Profile {
  /** The stream that the charts are of. */
  main: StreamName;
  streams: readonly StreamName[];
  /** Streams that keep their rate, whatever the sandbox does. */
  open: readonly { stream: StreamName; perSecond: number; shot: () => Shot }[];
  /** The first request of each simulated user; the others follow on it. */
  users: readonly (() => Shot)[];
  markers: Markers;
}

/** What a profile is made from. */
export interface ProfileOptions {
  name: LoadProfileName;
  ratePerSecond: number;
  /** Of the profile conversation. */
  simulatedUsers: number;
  apiKey: string | undefined;
  /** Whether the sandbox has `/users`. */
  hasUsers: boolean;
  chance: Random;
  /** What users say instead of what the kit has them say. */
  lines?: ChatWords['lines'];
}

/** Beside chat. In 60 s that makes as many answers as it takes to prove the target. */
export const HEALTH_BESIDE_PER_SECOND = 5;
/** Users created and deleted a second, beside chat. */
export const USERS_BESIDE_PER_SECOND = 1;

/** Makes a profile. */
export function profileOf(options: ProfileOptions): Profile {
  const { name, ratePerSecond, simulatedUsers, apiKey, hasUsers, chance, lines } = options;
  const names = markers(chance.fork('tag').id(4));
  const headers: Record<string, string> =
    apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const words: ChatWords = { markers: names, headers, lines };
  let conversations = 0;
  let usersMade = 0;
  const chat = {
    stream: 'chat' as const,
    perSecond: ratePerSecond,
    shot: () => chatShot(conversations, [opening(conversations++, words)], words),
  };
  const health = { stream: 'health' as const, perSecond: ratePerSecond, shot: healthShot };
  const people = {
    stream: 'users' as const,
    perSecond: USERS_BESIDE_PER_SECOND,
    shot: () => userShot(`sim_user_${names.session(usersMade++).slice(3)}`, headers),
  };
  const base = { markers: names, users: [] };
  switch (name) {
    case 'chat':
      return { ...base, main: 'chat', streams: ['chat'], open: [chat] };
    case 'health':
      return { ...base, main: 'health', streams: ['health'], open: [health] };
    case 'voice':
      return { ...base, main: 'chat', streams: [], open: [] };
    case 'all':
    case 'mixed': {
      const beside = { ...health, perSecond: HEALTH_BESIDE_PER_SECOND };
      const open = hasUsers ? [chat, beside, people] : [chat, beside];
      return { ...base, main: 'chat', streams: open.map(({ stream }) => stream), open };
    }
    case 'conversation': {
      const users = Array.from({ length: simulatedUsers }, (_, index) => {
        const own = chance.fork(`user ${index}`);
        return () => conversationShot(words, own, () => conversations++);
      });
      return { ...base, main: 'chat', streams: ['chat'], open: [], users };
    }
  }
}
