import type { CallNetwork } from '../../contract/index.ts';

/** Networks by name: for `load --network`, and for the shipped personas. */
export const networkPresets = {
  /** A good mobile connection. */
  mobile: { loss_pct: 1, burst: 2, jitter_ms: 20 },
  /** A mobile connection that changes cells: packets are lost in bursts. */
  train: { loss_pct: 6, burst: 6, jitter_ms: 60 },
  /** A wireless network that many people share. */
  crowded: { loss_pct: 3, jitter_ms: 80 },
  /** An uplink with hardly enough room for the voice. */
  narrow: { loss_pct: 0.5, jitter_ms: 20, bandwidth_kbps: 40 },
} as const satisfies Record<string, CallNetwork>;

export type NetworkPresetName = keyof typeof networkPresets;

export const NETWORK_PRESET_NAMES = Object.keys(networkPresets) as readonly NetworkPresetName[];
