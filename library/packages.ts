/** The packages as values: the library loads one only when a function needs it. */
import type * as conformanceModule from '../conformance/index.ts';
import type * as loadModule from '../load/index.ts';
import type * as serviceModule from '../src/service/index.ts';

export type Conformance = typeof conformanceModule;
export type Load = typeof loadModule;
export type Service = typeof serviceModule;
