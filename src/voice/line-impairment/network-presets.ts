import type { CallNetwork } from '../../contract/index.ts';

export const NETWORK_PRESET_NAMES = ['mobile', 'train', 'crowded', 'narrow'] as const;

export type NetworkPresetName = (typeof NETWORK_PRESET_NAMES)[number];

/** Networks by name: for `load --network`, and for the shipped personas. */
export const networkPresets: Record<NetworkPresetName, CallNetwork> = {
  /** A good mobile connection. */
  mobile: { loss_pct: 1, burst: 2, jitter_ms: 20 },
  /** A mobile connection that changes cells: packets are lost in bursts. */
  train: { loss_pct: 6, burst: 6, jitter_ms: 60 },
  /** A wireless network that many people share. */
  crowded: { loss_pct: 3, jitter_ms: 80 },
  /** An uplink with hardly enough room for the voice. */
  narrow: { loss_pct: 0.5, jitter_ms: 20, bandwidth_kbps: 40 },
};

/** Describes a network: "train (6% loss in bursts of 6 packets, 0 to 60 ms jitter)". */
export function describeNetwork(name: NetworkPresetName): string {
  const {
    loss_pct: loss,
    burst,
    jitter_ms: jitter,
    bandwidth_kbps: bandwidth,
  } = networkPresets[name];
  const parts = [
    loss && `${loss}% loss${burst === undefined ? '' : ` in bursts of ${burst} packets`}`,
    jitter && `0 to ${jitter} ms jitter`,
    bandwidth && `${bandwidth} kbit/s`,
  ];
  return `${name} (${parts.filter(Boolean).join(', ')})`;
}
