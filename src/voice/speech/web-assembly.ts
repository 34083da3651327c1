/** A program that is compiled and can be run. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: 'WebAssembly.Module';
}

interface WebAssemblyParts {
  compile(bytes: Uint8Array<ArrayBuffer>): Promise<WasmModule>;
  Instance: new (
    module: WasmModule,
    imports: Record<string, Record<string, (...given: never[]) => number>>,
  ) => { exports: Readonly<Record<string, unknown>> };
}

/** What this room uses of WebAssembly: its types come with those of browsers alone. */
export const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyParts }).WebAssembly;
