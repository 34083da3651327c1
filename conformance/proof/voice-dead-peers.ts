import type { Clock } from '../../src/platform/clock.ts';
import { createAcceptedResponse } from '../engine/mutants/combinators.ts';
import { peer, type Dead, type DeadPeer } from './dead-peer.ts';
import { unreachable } from './dead-peers.ts';
import { startProxy, type Listening } from './proxy.ts';

/** A sandbox that is well but for its WebSockets: those at `/voice`, and those that are nowhere. */
const refusing =
  (voice: number, elsewhere: number) =>
  (clock: Clock): Promise<Listening> =>
    startProxy({
      upstream: 'http://127.0.0.1:9',
      clock,
      transform: (asked) => Promise.resolve(createAcceptedResponse(asked, clock)),
      voice: {
        admit: ({ path }) => ({
          status: path === '/voice' ? voice : elsewhere,
          headers: {},
          body: '',
        }),
      },
    });

const peers: readonly Dead[] = [
  peer('no-voice', 'Is healthy, and has no voice.', 'no_voice', refusing(404, 404)),
  peer('no-upgrades', 'Is healthy, and refuses every upgrade.', 'no_voice', refusing(403, 403)),
  peer('drops-upgrades', 'Is healthy, and drops who asks for an upgrade.', 'reset', (clock) =>
    startProxy({
      upstream: 'http://127.0.0.1:9',
      clock,
      transform: (asked) => Promise.resolve(createAcceptedResponse(asked, clock)),
      voice: { admit: () => 'dropped' },
    }),
  ),
  ...[401, 403].map((status) =>
    peer(
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
