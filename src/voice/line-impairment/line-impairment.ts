import type { CallNetwork, CallNoise } from '../../contract/index.ts';
import { seededRandom } from '../../platform/random.ts';
import { FRAME_MS } from '../opus/frame.ts';
import { NetworkPath, type PacketDelivery } from './network-path.ts';
import type { AudibleNoise, NoiseMixer } from './noise-mixer.ts';

/** The faults of a line; a part that is left out is perfect. */
export interface LineConditions {
  noise?: CallNoise | undefined;
  network?: CallNetwork | undefined;
}

/** A packet as it enters the network, and what the network does to it. */
export interface ImpairedPacket {
  payload: Buffer;
  delivery: PacketDelivery;
}

/**
 * Noise and a bad network on the way of the caller's voice to the agent. It reads no clock and sends
 * nothing.
 *
 * A call waits for the agent, so its utterances start at slightly different times in every run. Each
 * utterance, and each silence between two, is therefore a section with its own random values: the
 * same seed gives the same packets in every section.
 */
export class LineImpairment {
  readonly #conditions: LineConditions;
  readonly #seed: string;
  #mixer: NoiseMixer | undefined;
  #network: NetworkPath | undefined;
  #section = 0;
  #frame = 0;

  constructor(conditions: LineConditions, seed: string, mixer: NoiseMixer | undefined) {
    this.#conditions = conditions;
    this.#seed = seed;
    this.#mixer = mixer;
    this.#startSection();
  }

  /** How much later a sound leaves the line, in milliseconds, apart from the network. */
  get delayMs(): number {
    return this.#mixer?.delayMs ?? 0;
  }

  /** Begins the next section: the caller starts to speak, or stops. */
  beginSection(): void {
    this.#section += 1;
    this.#startSection();
  }

  /** Impairs the next packet of 20 ms. */
  impair(packet: Buffer): ImpairedPacket {
    const payload = this.#mixer?.mix(packet) ?? packet;
    const sentMs = this.#frame * FRAME_MS;
    this.#frame += 1;
    const delivery = this.#network?.deliver(sentMs, payload.length) ?? { delayMs: 0 };
    return { payload, delivery };
  }

  /** Frees the codec; no packet can be impaired after that. */
  close(): void {
    this.#mixer?.close();
    this.#mixer = undefined;
  }

  #startSection(): void {
    const { network } = this.#conditions;
    const random = seededRandom(`${this.#seed}/${this.#section}`);
    this.#frame = 0;
    this.#mixer?.restart(random.fork('noise'));
    this.#network = network && new NetworkPath(network, random.fork('network'));
  }
}

/** Creates a line; undefined for one without noise and with a perfect network. */
export async function createLineImpairment(
  conditions: LineConditions,
  seed: string,
): Promise<LineImpairment | undefined> {
  const { noise, network } = conditions;
  const mixer = noise && isAudible(noise) ? await createMixer(noise) : undefined;
  if (!mixer && !network) return undefined;
  return new LineImpairment(conditions, seed, mixer);
}

const isAudible = (noise: CallNoise): noise is AudibleNoise => noise.kind !== 'quiet';

async function createMixer(noise: AudibleNoise): Promise<NoiseMixer> {
  // Loading the codec takes a moment, and most calls have no noise.
  const { createNoiseMixer } = await import('./noise-mixer.ts');
  return createNoiseMixer(noise);
}
