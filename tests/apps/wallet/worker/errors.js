// Errors as EIP-1193 and JSON-RPC number them.

export class RpcError extends Error {
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const userRejected = () => new RpcError(4001, "User rejected the request.");
export const unauthorized = () =>
  new RpcError(4100, "The requested account and/or method has not been authorized by the user.");
export const unsupported = (method) => new RpcError(4200, `The wallet does not support ${method}.`);
export const invalidParams = (message) => new RpcError(-32602, message);

export const asError = (error) => ({
  code: error.code ?? -32603,
  message: error.message,
  data: error.data,
});
