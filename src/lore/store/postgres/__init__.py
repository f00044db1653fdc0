"""The store for many tenants and many servers: PostgreSQL with pgvector."""
