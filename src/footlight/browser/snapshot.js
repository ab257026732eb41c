({
  query(root, body) {
    const reply = (root.ownerDocument || root).createElement("a");
    reply.setAttribute("v", JSON.stringify({ gen: 1, next: 1, url: "", title: "", nodes: [] }));
    return reply;
  },
  queryAll(root, body) {
    return [this.query(root, body)];
  },
})
