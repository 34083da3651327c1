/** What is said where a scenario wants a model that plays the user and there is none. */
export const userModelMissing =
  'No model is configured that could play the user. Set SANDBOX_KIT_USER_URL (any ' +
  'OpenAI-compatible API), SANDBOX_KIT_USER_MODEL and SANDBOX_KIT_USER_API_KEY.';
