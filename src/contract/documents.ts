import { createAsyncApi, type AsyncApiDocument } from './asyncapi.ts';
import { createOpenApi, type OpenApiDocument } from './openapi.ts';

/** Returns the documents of the whole interface by their file name in `schemas/`. */
export function createContractDocuments(): Record<string, OpenApiDocument | AsyncApiDocument> {
  return {
    'openapi-service.json': createOpenApi('service'),
    'openapi-sandbox.json': createOpenApi('sandbox'),
    'asyncapi-voice.json': createAsyncApi(),
  };
}
