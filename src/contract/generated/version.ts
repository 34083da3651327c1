// Generated from schemas/ by src/contract/generate.ts, do not edit.
/** The version of the kit, which the OpenAPI and AsyncAPI documents have. */
export const contractVersion = '0.1.0';
