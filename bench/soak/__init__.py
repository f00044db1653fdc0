"""Load for an hour: what grows?"""
