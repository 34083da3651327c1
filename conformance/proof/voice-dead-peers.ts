import type { Clock } from '../../src/platform/clock.ts';
import { createAcceptedResponse } from '../engine/mutants/combinators.ts';
import {
  definePeer,
  NO_UPSTREAM,
  unreachable,
  type DeadPeer,
  type PeerTemplate,
} from './dead-peers.ts';
import { startProxy, type RunningServer } from './proxy.ts';

/** A sandbox that is well but for its WebSockets: those at `/voice`, and those that are nowhere. */
const refusing =
  (voice: number, elsewhere: number) =>
  (clock: Clock): Promise<RunningServer> =>
    startProxy({
      upstream: NO_UPSTREAM,
      clock,
      transform: (asked) => Promise.resolve(createAcceptedResponse(asked, clock)),
      voice: {
        respond: ({ path }) => ({
          status: path === '/voice' ? voice : elsewhere,
          headers: {},
          body: '',
        }),
      },
    });

const peers: readonly PeerTemplate[] = [
  definePeer('no-voice', 'Is healthy, and has no voice.', 'no_voice', refusing(404, 404)),
  definePeer(
    'no-upgrades',
    'Is healthy, and refuses every upgrade.',
    'no_voice',
    refusing(403, 403),
  ),
  definePeer('drops-upgrades', 'Is healthy, and drops who asks for an upgrade.', 'reset', (clock) =>
    startProxy({
      upstream: NO_UPSTREAM,
      clock,
      transform: (asked) => Promise.resolve(createAcceptedResponse(asked, clock)),
      voice: { respond: () => 'dropped' },
    }),
  ),
  ...[401, 403].map((status) =>
    definePeer(
      `voice-key-refused-${status}`,
      `Is healthy, and refuses every key for voice with ${status}.`,
      'key_refused',
      refusing(status, 404),
    ),
  ),
  ...unreachable
    .filter(({ name }) => /nothing-listens|tls-not-trusted|plain-http|^resets$/.test(name))
    .map((dead) => ({ ...dead, name: `voice-${dead.name}` })),
];

/** Every dead peer of a check of voice alone. */
export const voiceDeadPeers: readonly DeadPeer[] = peers.map(({ name, ...dead }) => ({
  id: `dead/${name}`,
  areas: ['voice'],
  ...dead,
}));
