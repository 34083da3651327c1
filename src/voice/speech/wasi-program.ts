/**
 * Runs a WASI command that takes arguments and writes one file, entirely in memory: it can't access
 * files, the clock, or the environment of the machine.
 */

/** A compiled program. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: 'WebAssembly.Module';
}

interface WebAssemblyParts {
  compile(bytes: Uint8Array<ArrayBuffer>): Promise<WasmModule>;
  Instance: new (
    module: WasmModule,
    imports: Record<string, Record<string, (...parameters: never[]) => number>>,
  ) => { exports: Readonly<Record<string, unknown>> };
}

/**
 * The part of WebAssembly that is used; its types only ship with the browser types of TypeScript.
 */
export const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyParts }).WebAssembly;

/** The result of a run. */
export interface ProgramResult {
  exitCode: number;
  /** The contents of the file that it wrote. */
  file: Buffer;
  /** Its output, up to 64 KiB. */
  output: string;
}

/** The directory of the output file, as the program sees it. */
export const PROGRAM_DIRECTORY = '/out';

const FILE_BYTES_MAX = 67_108_864;
const OUTPUT_BYTES_MAX = 65_536;

const OK = 0;
const BAD_DESCRIPTOR = 8;
const NO_SPACE_LEFT = 51;
const DIRECTORY_FD = 3;
const FILE_FD = 4;
const FILE_TYPES = { device: 2, directory: 3, file: 4 };

class ProgramExit extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** Runs a program to completion. @throws a WebAssembly error if it crashes. */
export function runProgram(module: WasmModule, args: readonly string[]): ProgramResult {
  const host = new ProgramHost(args);
  const instance = new webAssembly.Instance(module, { wasi_snapshot_preview1: host.imports() });
  const { memory, _start: start } = instance.exports;
  host.memory = memory as { buffer: ArrayBuffer };
  let exitCode = 0;
  try {
    (start as () => void)();
  } catch (error) {
    if (!(error instanceof ProgramExit)) throw error;
    exitCode = error.code;
  }
  return { exitCode, file: host.file, output: host.output };
}

/** The system interface of the program. */
class ProgramHost {
  /** Memory of the program, once it is instantiated. */
  memory = { buffer: new ArrayBuffer(0) };
  readonly #args: readonly Buffer[];
  #bytes = Buffer.alloc(0);
  #size = 0;
  #at = 0;
  #output = Buffer.alloc(0);

  constructor(args: readonly string[]) {
    this.#args = args.map((arg) => Buffer.from(`${arg.replaceAll('\0', ' ')}\0`));
  }

  get file(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  get output(): string {
    return this.#output.toString();
  }

  imports(): Record<string, (...parameters: never[]) => number> {
    return {
      args_sizes_get: (count: number, bytes: number) => {
        this.#view.setUint32(count, this.#args.length, true);
        this.#view.setUint32(bytes, Buffer.concat(this.#args).length, true);
        return OK;
      },
      args_get: (pointers: number, bytes: number) => this.#putArgs(pointers, bytes),
      // A constant, so that the same line always gives the same audio.
      clock_time_get: (_id: number, _precision: bigint, at: number) => {
        this.#view.setBigUint64(at, 0n, true);
        return OK;
      },
      fd_prestat_get: (fd: number, at: number) => {
        if (fd !== DIRECTORY_FD) return BAD_DESCRIPTOR;
        this.#view.setUint32(at, 0, true);
        this.#view.setUint32(at + 4, PROGRAM_DIRECTORY.length, true);
        return OK;
      },
      fd_prestat_dir_name: (_fd: number, at: number, length: number) => {
        Buffer.from(PROGRAM_DIRECTORY).copy(this.#memoryAt(at, length));
        return OK;
      },
      fd_fdstat_get: (fd: number, at: number) => this.#describe(fd, at),
      fd_fdstat_set_flags: () => OK,
      path_open: (...parameters: number[]) => {
        this.#view.setUint32(parameters[8] ?? 0, FILE_FD, true);
        return OK;
      },
      fd_close: () => OK,
      fd_read: (_fd: number, _pieces: number, _count: number, read: number) => {
        this.#view.setUint32(read, 0, true);
        return OK;
      },
      fd_seek: (fd: number, offset: bigint, whence: number, at: number) =>
        this.#seek(fd, Number(offset), whence, at),
      fd_write: (fd: number, pieces: number, count: number, written: number) =>
        this.#writeAll(fd, { pieces, count, written }),
      proc_exit: (code: number) => {
        throw new ProgramExit(code);
      },
    };
  }

  /** Created for each access, because memory that grows gets a new buffer. */
  get #view(): DataView {
    return new DataView(this.memory.buffer);
  }

  #memoryAt(at: number, length: number): Buffer {
    return Buffer.from(this.memory.buffer, at, length);
  }

  #putArgs(pointers: number, bytes: number): number {
    let at = bytes;
    this.#args.forEach((arg, index) => {
      this.#view.setUint32(pointers + index * 4, at, true);
      arg.copy(this.#memoryAt(at, arg.length));
      at += arg.length;
    });
    return OK;
  }

  #describe(fd: number, at: number): number {
    if (fd > FILE_FD) return BAD_DESCRIPTOR;
    const { device, directory, file } = FILE_TYPES;
    this.#memoryAt(at, 24).fill(0);
    this.#view.setUint8(at, fd === DIRECTORY_FD ? directory : fd === FILE_FD ? file : device);
    const allRights = 0x1fff_ffffn;
    this.#view.setBigUint64(at + 8, allRights, true);
    this.#view.setBigUint64(at + 16, allRights, true);
    return OK;
  }

  #seek(fd: number, offset: number, whence: number, at: number): number {
    if (fd !== FILE_FD) return BAD_DESCRIPTOR;
    const position = offset + (whence === 0 ? 0 : whence === 1 ? this.#at : this.#size);
    if (position < 0 || position > FILE_BYTES_MAX) return NO_SPACE_LEFT;
    this.#at = position;
    this.#view.setBigUint64(at, BigInt(position), true);
    return OK;
  }

  #writeAll(fd: number, to: { pieces: number; count: number; written: number }): number {
    let written = 0;
    for (let nth = 0; nth < to.count; nth += 1) {
      const start = this.#view.getUint32(to.pieces + nth * 8, true);
      const piece = this.#memoryAt(start, this.#view.getUint32(to.pieces + nth * 8 + 4, true));
      if (fd === FILE_FD) {
        if (this.#at + piece.length > FILE_BYTES_MAX) return NO_SPACE_LEFT;
        this.#write(piece);
      } else if (this.#output.length < OUTPUT_BYTES_MAX) {
        this.#output = Buffer.concat([this.#output, piece]);
      }
      written += piece.length;
    }
    this.#view.setUint32(to.written, written, true);
    return OK;
  }

  #write(piece: Buffer): void {
    const end = this.#at + piece.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(65_536, end * 2));
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.#at);
    this.#at = end;
    this.#size = Math.max(this.#size, end);
  }
}
