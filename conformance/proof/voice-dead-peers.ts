import type { Clock } from '../../src/platform/clock.ts';
import {
  definePeer,
  NO_UPSTREAM,
  respondAsSandbox,
  unreachable,
  type DeadPeer,
  type PeerTemplate,
} from './dead-peers.ts';
import { startProxy, type RunningServer } from './proxy.ts';

/** Starts a healthy sandbox that refuses upgrades, with one status for `/voice` and one for other paths. */
const refuseUpgrades =
  (voiceStatus: number, otherStatus: number) =>
  (clock: Clock): Promise<RunningServer> =>
    startProxy({
      upstream: NO_UPSTREAM,
      clock,
      transform: (request) => Promise.resolve(respondAsSandbox(request, clock)),
      voice: {
        respond: ({ path }) => ({
          status: path === '/voice' ? voiceStatus : otherStatus,
          headers: {},
          body: '',
        }),
      },
    });

const peers: readonly PeerTemplate[] = [
  definePeer(
    'no-voice',
    'Is healthy, but has no voice endpoint.',
    'no_voice',
    refuseUpgrades(404, 404),
  ),
  definePeer(
    'no-upgrades',
    'Is healthy, but refuses every upgrade.',
    'no_voice',
    refuseUpgrades(403, 403),
  ),
  definePeer(
    'drops-upgrades',
    'Is healthy, but drops the connection of every upgrade request.',
    'reset',
    (clock) =>
      startProxy({
        upstream: NO_UPSTREAM,
        clock,
        transform: (request) => Promise.resolve(respondAsSandbox(request, clock)),
        voice: { respond: () => 'dropped' },
      }),
  ),
  ...[401, 403].map((status) =>
    definePeer(
      `voice-key-refused-${status}`,
      `Is healthy, but refuses every key for voice with ${status}.`,
      'key_refused',
      refuseUpgrades(status, 404),
    ),
  ),
  ...unreachable
    .filter(({ name }) => /nothing-listens|tls-not-trusted|plain-http|^resets$/.test(name))
    .map((peer) => ({ ...peer, name: `voice-${peer.name}` })),
];

/** The dead peers of a check of the voice area alone. */
export const voiceDeadPeers: readonly DeadPeer[] = peers.map(({ name, ...peer }) => ({
  id: `dead/${name}`,
  areas: ['voice'],
  ...peer,
}));
