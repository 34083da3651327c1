/** Noise and bad networks on the way of the caller's voice to the agent. */
export {
  createLineImpairment,
  type ImpairedPacket,
  type LineConditions,
  type LineImpairment,
} from './line-impairment.ts';
export { networkPresets, type NetworkPresetName } from './network-presets.ts';
