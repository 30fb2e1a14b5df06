def save(content, path):
    with open(path, "w") as file:
        file.write(str(content))
